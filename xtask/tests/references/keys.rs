//! The keys of a JSON Schema as a table: where they stand, what they take, what they mean.

use std::fmt::Write as _;

use serde_json::Value;

/// Deeper nesting than any of our files has; ends schemas that refer to themselves.
const DEPTH: usize = 12;

/// Every key below the schema's root, a line each.
pub(crate) fn table(schema: &Value) -> String {
    let mut text = String::from("| key | type | meaning |\n|---|---|---|\n");
    rows(schema, schema, "", DEPTH, &mut text);
    text
}

/// A key of an object, once for each form of the object that has it.
struct Field<'a> {
    key: &'a str,
    /// What the key holds, and the word that marks the form, if there are several.
    forms: Vec<(&'a Value, Option<&'a str>)>,
    required: bool,
}

fn rows(root: &Value, node: &Value, path: &str, depth: usize, text: &mut String) {
    if depth == 0 {
        return;
    }
    let (fields, forms) = fields(root, node);
    for field in &fields {
        let path = if path.is_empty() {
            field.key.to_owned()
        } else {
            format!("{path}.{}", field.key)
        };
        row(root, field, forms, &path, text);
        for (value, _) in &field.forms {
            rows(root, value, &path, depth - 1, text);
        }
    }
    for part in parts(root, node) {
        if part["additionalProperties"].is_object() {
            let inner = &part["additionalProperties"];
            rows(root, inner, &format!("{path}.<name>"), depth - 1, text);
        }
        if part["items"].is_object() {
            rows(root, &part["items"], &format!("{path}[]"), depth - 1, text);
        }
    }
}

/// The keys of a node, and how many forms it has.
fn fields<'a>(root: &'a Value, node: &'a Value) -> (Vec<Field<'a>>, usize) {
    let mut fields: Vec<Field<'a>> = Vec::new();
    let mut marks: Vec<Option<&str>> = Vec::new();
    collect(root, node, None, DEPTH, &mut |part, mark| {
        if !marks.contains(&mark) {
            marks.push(mark);
        }
        let properties = part["properties"].as_object().into_iter().flatten();
        for (key, value) in properties {
            let required = part["required"]
                .as_array()
                .is_some_and(|keys| keys.iter().any(|name| name == key.as_str()));
            match fields.iter_mut().find(|field| field.key == key) {
                Some(field) => {
                    field.forms.push((value, mark));
                    field.required &= required;
                }
                None => fields.push(Field {
                    key,
                    forms: vec![(value, mark)],
                    required,
                }),
            }
        }
    });
    (fields, marks.len())
}

/// Gives every part of a node that has keys, with the mark of the form that it belongs to.
fn collect<'a>(
    root: &'a Value,
    node: &'a Value,
    mark: Option<&'a str>,
    depth: usize,
    take: &mut dyn FnMut(&'a Value, Option<&'a str>),
) {
    if depth == 0 {
        return;
    }
    if node["properties"].is_object() {
        take(node, mark);
    }
    if let Some(target) = target(root, node) {
        collect(root, target, mark, depth - 1, take);
    }
    for part in list(&node["allOf"]) {
        collect(root, part, mark, depth - 1, take);
    }
    for form in list(&node["anyOf"]).iter().chain(list(&node["oneOf"])) {
        collect(root, form, own_mark(form).or(mark), depth - 1, take);
    }
}

/// The fixed word by which one form of an object is told from the others.
fn own_mark(form: &Value) -> Option<&str> {
    let mut values = form["properties"].as_object()?.values();
    values.find_map(|value| value["const"].as_str())
}

fn row(root: &Value, field: &Field<'_>, forms: usize, path: &str, text: &mut String) {
    let mut kinds: Vec<String> = Vec::new();
    for (value, _) in &field.forms {
        let kind = kind(root, value, DEPTH);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut kind = kinds.join(" or ");
    let everywhere = field.forms.len() >= forms;
    if field.required && everywhere {
        kind.push_str(", required");
    }
    let default = field.forms.iter().find_map(|(value, _)| {
        value
            .get("default")
            .filter(|value| !value.is_null() && **value != serde_json::json!([]))
    });
    if let Some(default) = default {
        let _ = write!(kind, ", default `{default}`");
    }
    let meaning = meaning(root, field, everywhere);
    let meaning = meaning.replace('\n', " ").replace('|', "\\|");
    let _ = writeln!(text, "| `{path}` | {kind} | {meaning} |");
}

/// What a key means; where that depends on the form of the object, once for each meaning.
fn meaning(root: &Value, field: &Field<'_>, everywhere: bool) -> String {
    let mut meanings: Vec<(String, Vec<String>)> = Vec::new();
    for (value, mark) in &field.forms {
        let words = description(root, value);
        let mark = mark.map(|mark| format!("`{mark}`"));
        match meanings.iter_mut().find(|(known, _)| *known == words) {
            Some((_, marks)) => marks.extend(mark),
            None => meanings.push((words, mark.into_iter().collect())),
        }
    }
    meanings.retain(|(words, _)| !words.is_empty());
    let apart = !everywhere || meanings.len() > 1;
    let texts = meanings.into_iter().map(|(words, marks)| {
        if apart && !marks.is_empty() {
            format!("For {}: {words}", marks.join(", "))
        } else {
            words
        }
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// The node's own description, else that of what it refers to.
fn description(root: &Value, node: &Value) -> String {
    let own = node["description"].as_str();
    let parts = parts(root, node);
    own.or_else(|| parts.iter().find_map(|part| part["description"].as_str()))
        .unwrap_or_default()
        .to_owned()
}

fn target<'a>(root: &'a Value, node: &Value) -> Option<&'a Value> {
    root.pointer(node["$ref"].as_str()?.strip_prefix('#')?)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A node with its references followed and its alternatives laid out.
fn parts<'a>(root: &'a Value, node: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![node];
    let mut next = 0;
    while let Some(part) = found.get(next).copied().filter(|_| next < 64) {
        found.extend(target(root, part));
        for word in ["allOf", "anyOf", "oneOf"] {
            found.extend(list(&part[word]));
        }
        next += 1;
    }
    found
}

/// What values a node takes, in words.
fn kind(root: &Value, node: &Value, depth: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    for part in parts(root, node) {
        let values = list(&part["enum"]).iter().chain(part.get("const"));
        words.extend(
            values
                .filter_map(Value::as_str)
                .map(|value| format!("`{value}`")),
        );
        if part.get("enum").is_some() || part.get("const").is_some() {
            continue;
        }
        let types = part["type"]
            .as_array()
            .map_or_else(|| vec![&part["type"]], |types| types.iter().collect());
        let types = types.into_iter().filter_map(Value::as_str);
        for name in types.filter(|name| *name != "null") {
            words.push(container(root, part, name, depth).unwrap_or_else(|| name.to_owned()));
        }
    }
    words.dedup();
    if words.is_empty() {
        "any".into()
    } else {
        words.join(" or ")
    }
}

/// A list or map with what it holds.
fn container(root: &Value, part: &Value, name: &str, depth: usize) -> Option<String> {
    let (word, inner) = match name {
        "array" => ("list", part.get("items")),
        "object" => (
            "map",
            part.get("additionalProperties")
                .filter(|inner| inner.is_object()),
        ),
        _ => return None,
    };
    let inner = inner.filter(|_| depth > 0)?;
    Some(format!("{word} of {}", kind(root, inner, depth - 1)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_types_and_meanings_are_laid_out() {
        let table = table(&json!({
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "description": "The name."},
                "host": {"anyOf": [{"$ref": "#/$defs/Host"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                "services": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Service"}},
            },
            "$defs": {
                "Host": {"type": "object", "description": "Where.\nExactly.", "properties": {
                    "mode": {"oneOf": [{"const": "process", "type": "string"}, {"const": "k3d"}], "default": "process"},
                }},
                "Service": {"type": "object", "properties": {"needs": {"$ref": "#/$defs/Service"}}},
            },
        }));
        for row in [
            "| `name` | string, required | The name. |",
            "| `host` | object | Where. Exactly. |",
            "| `host.mode` | `process` or `k3d`, default `\"process\"` |  |",
            "| `tags` | list of string |  |",
            "| `services` | map of object |  |",
            "| `services.<name>.needs` | object |  |",
        ] {
            assert!(table.contains(row), "{row}\n{table}");
        }
    }

    #[test]
    fn an_object_of_several_forms_has_each_key_once() {
        let table = table(&json!({
            "oneOf": [
                {"properties": {"type": {"const": "http"}, "port": {"type": "integer", "description": "The port."}, "path": {"type": "string", "description": "The path."}},
                 "required": ["type", "port", "path"]},
                {"properties": {"type": {"const": "tcp"}}, "$ref": "#/$defs/Port", "required": ["type"]},
            ],
            "$defs": {"Port": {"properties": {"port": {"type": "integer"}}, "required": ["port"]}},
        }));
        assert_eq!(
            table.lines().skip(2).collect::<Vec<_>>(),
            [
                "| `type` | `http` or `tcp`, required |  |",
                "| `port` | integer, required | The port. |",
                "| `path` | string | For `http`: The path. |",
            ]
        );
    }

    #[test]
    fn odd_schemas_are_survived() {
        for odd in [
            json!(null),
            json!({"$ref": "#"}),
            json!({"properties": {"a": {"$ref": "#/nowhere"}, "b": true}}),
        ] {
            assert!(table(&odd).starts_with("| key "));
        }
    }
}
