//! `ConfigMap`s and `Secret`s that a service may refer to: its own first, then those of the session.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cp9_model::ServiceName;
use serde_json::Value;

use super::Session;
use crate::argo::ServiceInput;
use crate::manifest::Manifest;

/// The content of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text.
    Text(String),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// Neither: not a string, or no base64.
    Broken,
}

/// The keys of a `ConfigMap` or `Secret`.
pub(crate) type Keys = BTreeMap<String, Content>;

/// Looks objects up for one service.
#[derive(Clone, Copy)]
pub(crate) struct Objects<'a> {
    session: &'a Session<'a>,
    own: &'a ServiceInput,
}

impl<'a> Objects<'a> {
    /// The objects as a service sees them.
    pub(crate) fn new(session: &'a Session<'a>, own: &'a ServiceInput) -> Self {
        Self { session, own }
    }

    /// The last object of a kind and name, the service's own before others.
    fn find(&self, kind: &str, name: &str) -> Option<&'a Manifest> {
        let fits = |manifest: &&Manifest| {
            manifest.group().is_empty() && manifest.kind() == kind && manifest.name() == name
        };
        let own = self.own.manifests.iter().rfind(fits);
        own.or_else(|| {
            self.session
                .inputs
                .iter()
                .flat_map(|input| &input.manifests)
                .find(fits)
        })
    }

    /// The keys of a `ConfigMap`.
    pub(crate) fn config_map(&self, name: &str) -> Option<Keys> {
        let manifest = self.find("ConfigMap", name)?;
        let mut keys = encoded(manifest, "/binaryData");
        keys.extend(plain(manifest, "/data"));
        Some(keys)
    }

    /// The keys of a Secret; values of the session file win over the manifest.
    pub(crate) fn secret(&self, name: &str) -> Option<Keys> {
        let manifest = self.find("Secret", name);
        let declared = self.declared(name);
        if manifest.is_none() && declared.is_none() {
            return None;
        }
        let mut keys = Keys::new();
        if let Some(manifest) = manifest {
            keys.extend(encoded(manifest, "/data"));
            keys.extend(plain(manifest, "/stringData"));
        }
        let declared = declared.unwrap_or_default();
        keys.extend(
            declared
                .iter()
                .map(|(key, value)| (key.clone(), Content::Text(value.clone()))),
        );
        Some(keys)
    }

    fn declared(&self, name: &str) -> Option<&'a [(String, String)]> {
        let service: ServiceName = name.parse().ok()?;
        self.session.secrets.get(&service).map(Vec::as_slice)
    }
}

fn fields<'a>(
    manifest: &'a Manifest,
    pointer: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    manifest
        .value
        .pointer(pointer)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn plain(manifest: &Manifest, pointer: &str) -> Keys {
    fields(manifest, pointer)
        .map(|(key, value)| {
            (
                key.clone(),
                value
                    .as_str()
                    .map_or(Content::Broken, |text| Content::Text(text.to_owned())),
            )
        })
        .collect()
}

fn encoded(manifest: &Manifest, pointer: &str) -> Keys {
    fields(manifest, pointer)
        .map(|(key, value)| (key.clone(), decode(value)))
        .collect()
}

/// Go's decoder, which the API server uses, passes over line ends inside base64.
fn decode(value: &Value) -> Content {
    let text: Option<String> = value
        .as_str()
        .map(|text| text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect());
    match text
        .and_then(|text| STANDARD.decode(text).ok())
        .map(String::from_utf8)
    {
        Some(Ok(text)) => Content::Text(text),
        Some(Err(bytes)) => Content::Bytes(bytes.into_bytes()),
        None if value.is_null() => Content::Text(String::new()),
        None => Content::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_the_api_server_does() {
        for (value, expected) in [
            (Value::from("YWJj"), Content::Text("abc".to_owned())),
            (Value::from("YW\nJj\n"), Content::Text("abc".to_owned())),
            (Value::from("/w=="), Content::Bytes(vec![255])),
            (Value::from("plain!"), Content::Broken),
            (Value::from(5), Content::Broken),
            (Value::Null, Content::Text(String::new())),
        ] {
            assert_eq!(decode(&value), expected);
        }
    }
}
