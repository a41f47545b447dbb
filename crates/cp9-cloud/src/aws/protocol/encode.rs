//! A call as a request: method, path, query, headers, body.

use serde_json::Value;

use super::call::{ApiCall, Body, Protocol};
use super::escape::form;

const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

/// A request without host and signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) method: String,
    /// Escaped, beginning with a slash.
    pub(crate) path: String,
    /// Escaped, without its question mark.
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The request of a call.
pub(crate) fn encode(call: &ApiCall) -> Wire {
    let mut headers = call.headers.clone();
    let mut typed = |media: &str| headers.push(("content-type".to_owned(), media.to_owned()));
    let mut query = String::new();
    let body = match call.protocol {
        Protocol::Query | Protocol::Ec2 => {
            typed(FORM);
            let mut pairs = vec![
                ("Action".to_owned(), call.operation.clone()),
                ("Version".to_owned(), call.version.clone()),
            ];
            pairs.extend(call.params.iter().cloned());
            form(&pairs).into_bytes()
        }
        Protocol::Json10 | Protocol::Json11 => {
            let version = if call.protocol == Protocol::Json10 {
                "1.0"
            } else {
                "1.1"
            };
            typed(&format!("application/x-amz-json-{version}"));
            let target = format!("{}.{}", call.target, call.operation);
            headers.push(("x-amz-target".to_owned(), target));
            json_input(&call.body)
        }
        Protocol::RestJson | Protocol::RestXml => {
            query = form(&call.params);
            let (media, bytes) = rest_body(&call.body);
            if let Some(media) = media {
                typed(media);
            }
            bytes
        }
    };
    Wire {
        method: call.method.clone(),
        path: call.path.clone(),
        query,
        headers,
        body,
    }
}

/// JSON APIs want an object, also where there is nothing to say.
fn json_input(body: &Body) -> Vec<u8> {
    match body {
        Body::Json(Value::Null) | Body::Empty => b"{}".to_vec(),
        Body::Json(value) => value.to_string().into_bytes(),
        Body::Bytes(_, bytes) => bytes.clone(),
    }
}

fn rest_body(body: &Body) -> (Option<&str>, Vec<u8>) {
    match body {
        Body::Empty => (None, Vec::new()),
        Body::Json(value) => (Some("application/json"), value.to_string().into_bytes()),
        Body::Bytes(media, bytes) => (Some(media), bytes.clone()),
    }
}

/// Nested input as pairs: `Name.Field`, and `Name.member.1` or `Name.1` for lists. A null says
/// nothing.
pub(super) fn flatten(name: &str, value: &Value, list: &str, pairs: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Bool(flag) => pairs.push((name.to_owned(), flag.to_string())),
        Value::Number(number) => pairs.push((name.to_owned(), number.to_string())),
        Value::String(text) => pairs.push((name.to_owned(), text.clone())),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{name}.{list}{}", index + 1), item, list, pairs);
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                flatten(&format!("{name}.{field}"), value, list, pairs);
            }
        }
    }
}
