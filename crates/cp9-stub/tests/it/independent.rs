//! A second opinion on answers: another validator, fed by another rewriting of OpenAPI schemas
//! than the product's. It rewrites the document as a whole and leaves its references as they are.

use jsonschema::{Draft, Registry};
use serde_json::{Map, Value, json};

const HERE: &str = "json-schema:///document";

/// Validates answers against a document.
pub(crate) struct Opinion {
    document: Value,
    registry: Registry<'static>,
}

impl Opinion {
    pub(crate) fn on(document: &Value) -> Self {
        let mut rewritten = document.clone();
        rewrite(&mut rewritten, document);
        let resource = Draft::Draft4.create_resource(rewritten);
        let registry = Registry::new()
            .add(HERE, resource)
            .and_then(jsonschema::RegistryBuilder::prepare)
            .expect("a document is a resource");
        Self {
            document: document.clone(),
            registry,
        }
    }

    /// Complains about a body, if the schema of its response has something against it.
    pub(crate) fn of_body(
        &self,
        (path, method): (&str, &str),
        status: u16,
        media: &str,
        body: &[u8],
    ) -> Result<(), String> {
        let operation = format!("/paths/{}", escaped(path));
        let operation = self.follow(operation);
        let responses = self.follow(format!("{operation}/{method}/responses"));
        let keys = [
            status.to_string(),
            format!("{}XX", status / 100),
            "default".into(),
        ];
        let response = keys
            .iter()
            .map(|key| format!("{responses}/{key}"))
            .find(|pointer| self.document.pointer(pointer).is_some())
            .ok_or_else(|| format!("`{status}` is not declared"))?;
        let content = format!("{}/content", self.follow(response));
        let Some(declared) = self.document.pointer(&content).and_then(Value::as_object) else {
            return if body.is_empty() {
                Ok(())
            } else {
                Err("a body where none is declared".into())
            };
        };
        let known = declared.keys().find(|key| covers(key, media));
        let key = known.ok_or_else(|| format!("`{media}` is not declared"))?;
        let schema = format!("{content}/{}/schema", escaped(key));
        if self.document.pointer(&schema).is_none() {
            return Ok(());
        }
        let value = if media.contains("json") || media.contains("vnd.github.") {
            serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))?
        } else {
            Value::String(String::from_utf8_lossy(body).into_owned())
        };
        self.of_value(&schema, &value)
    }

    /// Complains about a value.
    pub(crate) fn of_value(&self, pointer: &str, value: &Value) -> Result<(), String> {
        let root = json!({ "$ref": format!("{HERE}#{}", pointer.replace('%', "%25").replace('{', "%7B").replace('}', "%7D")) });
        let validator = jsonschema::options()
            .with_draft(Draft::Draft4)
            .should_validate_formats(true)
            .with_registry(&self.registry)
            .build(&root)
            .map_err(|error| format!("no schema: {error}"))?;
        validator
            .validate(value)
            .map_err(|error| format!("{value} at {}: {error}", error.instance_path()))
    }

    /// The pointer that the chain of references at a pointer ends at.
    fn follow(&self, mut pointer: String) -> String {
        loop {
            let node = self.document.pointer(&pointer);
            let next = node
                .and_then(|node| node.get("$ref"))
                .and_then(Value::as_str);
            match next.and_then(|next| next.strip_prefix('#')) {
                Some(next) => next.clone_into(&mut pointer),
                None => return pointer,
            }
        }
    }
}

/// True if a key of `content` is the type that was sent, or a range around it.
fn covers(key: &str, media: &str) -> bool {
    let bare = |text: &str| {
        text.split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_lowercase()
    };
    let (key, media) = (bare(key), bare(media));
    let kind = key.split('/').next().unwrap_or_default();
    key == media || key == "*/*" || (key.ends_with("/*") && media.starts_with(&format!("{kind}/")))
}

fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// `nullable`, `writeOnly` and empty lists in the terms of draft 4, wherever they stand.
fn rewrite(node: &mut Value, document: &Value) {
    match node {
        Value::Object(map) => {
            let nullable = map.get("nullable") == Some(&Value::Bool(true));
            if let Some(Value::String(word)) = map.get("type").cloned()
                && nullable
            {
                map.insert("type".into(), json!([word, "null"]));
            }
            for word in ["id", "$schema"] {
                if map.get(word).is_some_and(Value::is_string) {
                    map.remove(word);
                }
            }
            answers_only(map, document);
            // A tag decides between the branches, so that they may overlap.
            if map.contains_key("discriminator")
                && let Some(branches) = map.remove("oneOf")
            {
                map.insert("anyOf".into(), branches);
            }
            map.values_mut().for_each(|child| rewrite(child, document));
        }
        Value::Array(list) => list.iter_mut().for_each(|child| rewrite(child, document)),
        _ => {}
    }
}

fn answers_only(map: &mut Map<String, Value>, document: &Value) {
    let Some(Value::Array(mut names)) = map.get("required").cloned() else {
        return;
    };
    names.retain(|name| {
        let mut node = map
            .get("properties")
            .and_then(|all| all.get(name.as_str()?));
        while let Some(next) = node.and_then(|node| node.get("$ref")) {
            let pointer = next.as_str().and_then(|next| next.strip_prefix('#'));
            node = pointer.and_then(|pointer| document.pointer(pointer));
        }
        node.is_none_or(|node| node.get("writeOnly") != Some(&Value::Bool(true)))
    });
    if names.is_empty() {
        map.remove("required");
    } else {
        map.insert("required".into(), Value::Array(names));
    }
}
