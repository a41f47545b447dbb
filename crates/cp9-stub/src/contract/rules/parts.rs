//! Parameters, headers, bodies and the types of schemas.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Rules;
use crate::contract::document::reference;
use crate::contract::media::Media;

/// The styles of each place.
const STYLES: [(&str, &[&str]); 5] = [
    ("path", &["matrix", "label", "simple"]),
    (
        "query",
        &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
    ),
    ("header", &["simple"]),
    ("cookie", &["form"]),
    (
        "form",
        &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
    ),
];

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

impl<'d> Rules<'d> {
    /// Checks a parameter and gives its place and name.
    pub(super) fn parameter(&mut self, at: &str, node: &'d Value) -> Option<(&'d str, &'d str)> {
        let map = self.object(at, node)?;
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
        let (place, name) = (text("in"), text("name"));
        if !["path", "query", "header", "cookie"].contains(&place) {
            self.fault(
                at,
                "its `in` is none of `path`, `query`, `header`, `cookie`",
            );
            return None;
        }
        if name.is_empty() {
            self.fault(at, "it has no `name`");
        }
        if place == "path" && map.get("required") != Some(&Value::Bool(true)) {
            self.fault(at, "a path parameter must say `required: true`");
        }
        self.style(at, place, map);
        self.schema_or_content(at, map);
        Some((place, name))
    }

    /// Checks a header; components have a name of their own, so they come without one.
    pub(super) fn header(&mut self, at: &str, name: Option<&str>, node: &'d Value) {
        let token = |name: &str| hyper::header::HeaderName::from_bytes(name.as_bytes()).is_ok();
        if name.is_some_and(|name| !token(name)) {
            self.fault(at, "its name is none of a header");
        }
        let Some(map) = self.object(at, node) else {
            return;
        };
        for key in ["name", "in"] {
            if map.contains_key(key) {
                self.fault(at, &format!("a header has no `{key}`"));
            }
        }
        self.style(at, "header", map);
        self.schema_or_content(at, map);
    }

    pub(super) fn headers(&mut self, at: &str, node: Option<&'d Value>) {
        let mut known = HashSet::new();
        // Most names of headers look like extensions.
        let map = node.and_then(|node| self.object(at, node));
        for (name, header) in map.into_iter().flatten() {
            if !known.insert(name.to_ascii_lowercase()) {
                self.fault(at, &format!("header `{name}` is declared twice"));
            }
            let at = format!("{at}.{}", name.escape_debug());
            self.header(&at, Some(name), header);
        }
    }

    pub(super) fn response(&mut self, at: &str, node: &'d Value) {
        let Some(map) = self.object(at, node) else {
            return;
        };
        self.headers(&format!("{at}.headers"), map.get("headers"));
        self.content(&format!("{at}.content"), map.get("content"));
    }

    pub(super) fn request_body(&mut self, at: &str, node: &'d Value) {
        let Some(map) = self.object(at, node) else {
            return;
        };
        self.content(&format!("{at}.content"), map.get("content"));
    }

    fn content(&mut self, at: &str, node: Option<&'d Value>) {
        for (name, media) in self.members(at, node) {
            let at = format!("{at}.{name}");
            if Media::parse(name).is_none() {
                self.fault(&at, "it is no media type");
            }
            let Some(media) = self.object(&at, media) else {
                continue;
            };
            if let Some(schema) = media.get("schema") {
                self.schema(&at, schema);
            }
            self.encodings(&at, media);
        }
    }

    fn encodings(&mut self, at: &str, media: &'d Map<String, Value>) {
        let schema = media
            .get("schema")
            .and_then(|schema| self.document.follow(schema).ok());
        let declared = schema.and_then(|schema| schema.get("properties"));
        let whole = schema.is_some_and(|schema| {
            ["allOf", "anyOf", "oneOf"]
                .iter()
                .all(|key| schema.get(key).is_none())
        });
        for (name, encoding) in self.members(at, media.get("encoding")) {
            let at = format!("{at}.encoding.{name}");
            if whole && declared.is_some_and(|declared| declared.get(name).is_none()) {
                self.fault(&at, "it is no property of the schema");
            }
            if let Some(encoding) = self.object(&at, encoding) {
                self.style(&at, "form", encoding);
                self.headers(&at, encoding.get("headers"));
            }
        }
    }

    fn style(&mut self, at: &str, place: &str, map: &Map<String, Value>) {
        let Some(style) = map.get("style") else {
            return;
        };
        let known = STYLES.iter().find(|(known, _)| *known == place);
        let known = known.map_or(&[] as &[&str], |(_, styles)| styles);
        if !style.as_str().is_some_and(|style| known.contains(&style)) {
            self.fault(at, &format!("its `style` is none of {}", known.join(", ")));
        }
    }

    fn schema_or_content(&mut self, at: &str, map: &'d Map<String, Value>) {
        let (schema, content) = (map.get("schema"), map.get("content"));
        if schema.is_some() && content.is_some() {
            self.fault(at, "it has both `schema` and `content`");
        }
        if let Some(schema) = schema {
            self.schema(at, schema);
        }
        if let Some(content) = content {
            self.content(at, Some(content));
            if content.as_object().is_none_or(|map| map.len() != 1) {
                self.fault(at, "its `content` must have exactly one media type");
            }
        }
    }

    /// Types are known ones, all the way down; references are checked where they lead.
    pub(super) fn schema(&mut self, at: &str, node: &'d Value) {
        if reference(node).is_some() {
            return;
        }
        let Some(map) = node.as_object() else {
            self.fault(at, "a schema is no object");
            return;
        };
        if let Some(word) = map.get("type")
            && !word.as_str().is_some_and(|word| TYPES.contains(&word))
        {
            self.fault(at, &format!("`{word}` is no type of OpenAPI 3.0"));
        }
        let properties = map.get("properties").and_then(Value::as_object);
        for (name, child) in properties.into_iter().flatten() {
            self.schema(&format!("{at}.{name}"), child);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let list = map.get(key).and_then(Value::as_array);
            for child in list.into_iter().flatten() {
                self.schema(at, child);
            }
        }
        for key in ["items", "not", "additionalProperties"] {
            if let Some(child) = map.get(key).filter(|child| !child.is_boolean()) {
                self.schema(at, child);
            }
        }
    }
}
