//! A schema of OpenAPI 3.0 as one of JSON Schema draft 4, one node at a time: references stay
//! references, so that cycles cost nothing.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::contract::{Document, reference};
use crate::reason::Reason;

/// Keywords that mean the same in both.
const SAME: [&str; 15] = [
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "uniqueItems",
];

/// Rewrites schemas; `rename` gives a reference its new form.
pub(crate) struct Normaliser<'a, 'd, F> {
    pub(crate) document: &'d Document,
    pub(crate) rename: &'a mut F,
}

impl<'d, F: FnMut(&str) -> Result<String, Reason>> Normaliser<'_, 'd, F> {
    /// The draft 4 form of a node.
    pub(crate) fn schema(&mut self, node: &'d Value) -> Result<Value, Reason> {
        if let Some(name) = reference(node) {
            return Ok(json!({ "$ref": (self.rename)(name)? }));
        }
        let Some(map) = node.as_object() else {
            return Err(Reason::new(format!("`{}` is no schema", short(node))));
        };
        let mut out: Map<String, Value> = SAME
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), map.get(*key)?.clone())))
            .collect();
        if let Some(types) = types(map) {
            out.insert("type".into(), types);
        }
        self.required(map, &mut out);
        self.children(map, &mut out)?;
        Ok(Value::Object(out))
    }

    /// What may only be sent to the service is not required of its answers.
    fn required(&self, map: &'d Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(declared) = map.get("required") else {
            return;
        };
        let Some(names) = declared.as_array() else {
            out.insert("required".into(), declared.clone());
            return;
        };
        let mut seen = HashSet::new();
        let kept: Vec<Value> = names
            .iter()
            .filter(|name| !is_write_only(self.document, property(map, name)))
            .filter(|name| seen.insert(name.to_string()))
            .cloned()
            .collect();
        if !kept.is_empty() {
            out.insert("required".into(), Value::Array(kept));
        }
    }

    fn children(
        &mut self,
        map: &'d Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Result<(), Reason> {
        for key in ["items", "not"] {
            if let Some(child) = map.get(key) {
                out.insert(key.into(), self.schema(child).map_err(|e| e.within(key))?);
            }
        }
        match map.get("additionalProperties") {
            Some(Value::Bool(open)) => {
                out.insert("additionalProperties".into(), json!(open));
            }
            Some(child) => {
                out.insert("additionalProperties".into(), self.schema(child)?);
            }
            None => {}
        }
        if let Some(properties) = map.get("properties") {
            out.insert("properties".into(), self.properties(properties)?);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            if let Some(list) = map.get(key) {
                out.insert(key.into(), self.list(list, key)?);
            }
        }
        self.discriminated(map, out)
    }

    fn properties(&mut self, node: &'d Value) -> Result<Value, Reason> {
        let Some(map) = node.as_object() else {
            return Err(Reason::new("`properties` is no object"));
        };
        let mut out = Map::new();
        for (name, child) in map {
            let child = self.schema(child).map_err(|e| e.within(name))?;
            out.insert(name.clone(), child);
        }
        Ok(Value::Object(out))
    }

    fn list(&mut self, node: &'d Value, key: &str) -> Result<Value, Reason> {
        let Some(list) = node.as_array() else {
            return Err(Reason::new(format!("`{key}` is no list")));
        };
        let children = list.iter().map(|child| self.schema(child));
        Ok(Value::Array(children.collect::<Result<_, _>>()?))
    }

    /// With a discriminator, the branch that the tag names decides alone: `oneOf` of schemas that
    /// overlap is met by a value that says which one it is.
    fn discriminated(
        &mut self,
        map: &'d Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Result<(), Reason> {
        let (Some(discriminator), Some(branches), Some(strict)) = (
            map.get("discriminator"),
            map.get("oneOf").and_then(Value::as_array),
            out.get("oneOf").cloned(),
        ) else {
            return Ok(());
        };
        let mut accepted = vec![json!({ "oneOf": strict })];
        for branch in branches {
            let Some((property, tag)) = tag_of(self.document, discriminator, branch) else {
                continue;
            };
            let tagged =
                json!({ "required": [&property], "properties": { property: { "enum": [tag] } } });
            accepted.push(json!({ "allOf": [self.schema(branch)?, tagged] }));
        }
        out.remove("oneOf");
        let choice = json!({ "anyOf": accepted });
        match out.get_mut("allOf").and_then(Value::as_array_mut) {
            Some(all) => all.push(choice),
            None => drop(out.insert("allOf".into(), json!([choice]))),
        }
        Ok(())
    }
}

/// `type`, with null where `nullable` adds it. Without a type `nullable` adds nothing.
fn types(map: &Map<String, Value>) -> Option<Value> {
    let declared = map.get("type")?;
    let nullable = map.get("nullable") == Some(&Value::Bool(true));
    if nullable && declared.is_string() {
        Some(json!([declared, "null"]))
    } else {
        Some(declared.clone())
    }
}

fn property<'d>(map: &'d Map<String, Value>, name: &Value) -> Option<&'d Value> {
    map.get("properties")?.get(name.as_str()?)
}

/// True for a property that answers never hold.
pub(crate) fn is_write_only(document: &Document, node: Option<&Value>) -> bool {
    node.and_then(|node| document.follow(node).ok())
        .is_some_and(|node| node.get("writeOnly") == Some(&Value::Bool(true)))
}

/// The discriminating property and the tag that stands for a referenced schema.
pub(crate) fn tag_of(
    document: &Document,
    discriminator: &Value,
    node: &Value,
) -> Option<(String, String)> {
    let property = discriminator.get("propertyName")?.as_str()?;
    let name = reference(node)?;
    let target = document.follow(node).ok()?;
    let mapping = discriminator.get("mapping").and_then(Value::as_object);
    let mapped = mapping.into_iter().flatten().find(|(_, to)| {
        let to = to.as_str().and_then(|to| mapped_target(document, to));
        to.is_some_and(|to| std::ptr::eq(to, target))
    });
    let tag = mapped.map_or_else(
        || name.rsplit('/').next().unwrap_or(name).to_owned(),
        |(tag, _)| tag.clone(),
    );
    Some((property.to_owned(), tag))
}

/// What a value of `mapping` names: a reference, or a schema of the components.
pub(crate) fn mapped_target<'d>(document: &'d Document, to: &str) -> Option<&'d Value> {
    let schemas = document.root().pointer("/components/schemas");
    let node = schemas
        .and_then(|schemas| schemas.get(to))
        .or_else(|| document.target(to).ok())?;
    document.follow(node).ok()
}

/// A value cut to what fits a message.
pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
