//! The headers that a response must carry, with zero values.

use hyper::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::document::Document;
use crate::reason::Reason;
use crate::zero::Search;

/// Names and values of the required headers.
pub(crate) fn required<'d>(
    document: &'d Document,
    search: &mut Search<'d>,
    response: &'d Map<String, Value>,
) -> Result<Vec<(HeaderName, HeaderValue)>, Reason> {
    let Some(declared) = response.get("headers") else {
        return Ok(Vec::new());
    };
    let Some(declared) = declared.as_object() else {
        return Err(Reason::new("`headers` of its response is no object"));
    };
    let mut found = Vec::new();
    for (name, header) in declared {
        let header = document.follow(header)?;
        // The contract tells the type of the body elsewhere.
        let is_ours = !name.eq_ignore_ascii_case("content-type");
        if is_ours && header.get("required") == Some(&Value::Bool(true)) {
            let value = value(document, search, header);
            let value = value.and_then(|text| sendable(name, &text));
            found.push(value.map_err(|e| e.within(&format!("header {name}")))?);
        }
    }
    Ok(found)
}

fn value<'d>(
    document: &'d Document,
    search: &mut Search<'d>,
    header: &'d Value,
) -> Result<String, Reason> {
    if let Some(schema) = header.get("schema") {
        let exploded = header.get("explode") == Some(&Value::Bool(true));
        return Ok(simple(&search.zero(schema)?, exploded));
    }
    let content = header.get("content").and_then(Value::as_object);
    let schema = content
        .and_then(|content| content.values().next())
        .map(|media| document.follow(media))
        .transpose()?
        .and_then(|media| media.get("schema"));
    match schema {
        Some(schema) => Ok(search.zero(schema)?.to_string()),
        None => Ok(String::new()),
    }
}

/// The style `simple`, the only one of headers.
fn simple(value: &Value, exploded: bool) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| simple(item, false)).collect();
            items.join(",")
        }
        Value::Object(object) => {
            let between = if exploded { '=' } else { ',' };
            let members: Vec<String> = object
                .iter()
                .map(|(name, value)| format!("{name}{between}{}", simple(value, false)))
                .collect();
            members.join(",")
        }
    }
}

fn sendable(name: &str, text: &str) -> Result<(HeaderName, HeaderValue), Reason> {
    let valid = HeaderName::from_bytes(name.as_bytes())
        .ok()
        .zip(HeaderValue::from_str(text).ok());
    valid.ok_or_else(|| Reason::new("it cannot be sent as a header"))
}
