//! One document of an override file: which object it is about and what it does to it.

use serde_json::{Map, Value};

use super::{ADD, Refused};
use crate::manifest::Manifest;
use crate::nearest::{nearest, quoted};

/// Where the annotation that adds an object stands.
pub(super) const ADD_AT: &str = "/metadata/annotations/cp9.tidbcloud.com~1override";

/// The keys of a document with a `target`.
const TARGETED: [&str; 3] = ["target", "patch", "set"];
/// The keys of a `target`.
const TARGET: [&str; 4] = ["apiVersion", "kind", "name", "namespace"];

/// A document.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// The object it is about.
    pub target: Target<'a>,
    /// What it does to it.
    pub change: Change<'a>,
}

/// What a document does.
#[derive(Debug)]
pub(super) enum Change<'a> {
    /// Merges itself into the object.
    Object(&'a Value),
    /// Adds itself.
    Add,
    /// Applies operations.
    JsonPatch(&'a [Value]),
    /// Sets plain values.
    Set(&'a Map<String, Value>),
}

/// The object that is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    /// Where the document says so.
    pub at: &'static str,
    /// Its version, if it is told.
    pub api_version: Option<&'a str>,
    /// Its kind.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its namespace, if it is told.
    pub namespace: Option<&'a str>,
}

impl Target<'_> {
    /// `Kind/name`.
    pub(super) fn word(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }

    /// True for the object that is meant, its namespace apart.
    pub(super) fn names(&self, object: &Manifest) -> bool {
        self.alike(object)
            && self
                .api_version
                .is_none_or(|version| object.text("/apiVersion") == Some(version))
    }

    /// The version of an object of this kind and name, if it has another.
    pub(super) fn other_version<'m>(&self, object: &'m Manifest) -> Option<&'m str> {
        let other = self.alike(object) && !self.names(object);
        other.then(|| object.text("/apiVersion")).flatten()
    }

    fn alike(&self, object: &Manifest) -> bool {
        object.kind() == self.kind && object.name() == self.name
    }
}

/// Reads a document.
pub(super) fn read(value: &Value) -> Result<Document<'_>, Refused> {
    let Value::Object(fields) = value else {
        return Err(form());
    };
    let is_object = fields.contains_key("apiVersion") || fields.contains_key("kind");
    if is_object {
        object(value, fields)
    } else if TARGETED.iter().any(|key| fields.contains_key(*key)) {
        targeted(fields)
    } else {
        Err(form())
    }
}

fn form() -> Refused {
    Refused::new(
        "",
        "this document is no override",
        "write a Kubernetes object with `apiVersion`, `kind` and `metadata.name`, or `target: {kind, name}` with `patch:` or `set:`",
    )
}

fn object<'a>(value: &'a Value, fields: &'a Map<String, Value>) -> Result<Document<'a>, Refused> {
    let metadata = fields.get("metadata").unwrap_or(&Value::Null);
    let annotation = &metadata["annotations"][ADD];
    let change = match annotation.as_str() {
        Some("add") => Change::Add,
        None if annotation.is_null() => Change::Object(value),
        _ => {
            return Err(Refused::new(
                ADD_AT,
                format!("`{ADD}: {annotation}` is not known"),
                "write `add`, or take the annotation out",
            ));
        }
    };
    Ok(Document {
        target: Target {
            at: "/metadata/name",
            api_version: Some(text(fields, "apiVersion", "", "")?),
            kind: text(fields, "kind", "", "")?,
            name: match metadata {
                Value::Object(metadata) => text(metadata, "name", "metadata.", "/metadata")?,
                _ => return Err(missing("metadata.name", "")),
            },
            namespace: metadata["namespace"].as_str(),
        },
        change,
    })
}

fn targeted(fields: &Map<String, Value>) -> Result<Document<'_>, Refused> {
    refuse_others(fields, &TARGETED, "")?;
    let Some(Value::Object(target)) = fields.get("target") else {
        return Err(missing("target", "/target"));
    };
    refuse_others(target, &TARGET, "/target")?;
    let optional = |key| match target.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(target, key, "target.", "/target").map(Some),
    };
    let change = match (fields.get("patch"), fields.get("set")) {
        (Some(Value::Array(operations)), None) => Change::JsonPatch(operations),
        (None, Some(Value::Object(values))) => Change::Set(values),
        (Some(_), Some(_)) => {
            return Err(Refused::new(
                "/set",
                "both `patch` and `set` say what to change",
                "write them as two documents",
            ));
        }
        (Some(_), None) => {
            return Err(Refused::new(
                "/patch",
                "`patch` is a list of operations",
                "write `patch: [{op: replace, path: /spec/replicas, value: 2}]`",
            ));
        }
        (None, Some(_)) => {
            return Err(Refused::new(
                "/set",
                "`set` is a mapping of JSON pointers to values",
                "write `set: {/spec/replicas: 2}`",
            ));
        }
        (None, None) => {
            return Err(Refused::new(
                "/target",
                "the document says not what to change",
                "add `patch:` or `set:`",
            ));
        }
    };
    Ok(Document {
        target: Target {
            at: "/target",
            api_version: optional("apiVersion")?,
            kind: text(target, "kind", "target.", "/target")?,
            name: text(target, "name", "target.", "/target")?,
            namespace: optional("namespace")?,
        },
        change,
    })
}

fn refuse_others(fields: &Map<String, Value>, known: &[&str], at: &str) -> Result<(), Refused> {
    let Some(other) = fields.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let help = match nearest(other, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("keys are {}", quoted(known.iter().copied())),
    };
    let at = format!("{at}/{}", crate::problem::token(other));
    Err(Refused::new(
        at,
        format!("key `{other}` is not known here"),
        help,
    ))
}

fn text<'a>(
    fields: &'a Map<String, Value>,
    key: &str,
    shown: &str,
    at: &str,
) -> Result<&'a str, Refused> {
    match fields.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::Null) | None => Err(missing(&format!("{shown}{key}"), at)),
        Some(_) => Err(Refused::new(
            format!("{at}/{key}"),
            format!("`{shown}{key}` must be text"),
            "put it in quotes",
        )),
    }
}

fn missing(what: &str, at: &str) -> Refused {
    Refused::new(
        at,
        format!("the document has no `{what}`"),
        format!("add `{what}`, so that the object is known"),
    )
}
