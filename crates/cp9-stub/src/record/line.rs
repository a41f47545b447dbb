//! One recorded request.

use std::borrow::Cow;

use hyper::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::body;
use super::hide::{HIDDEN, Hide};
use crate::route::percent_decode;

/// Parts of names whose values are hidden.
const SECRET: [&str; 9] = [
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "api-key",
    "apikey",
];

/// A request to be recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) trace_id: &'a str,
    pub(crate) body: &'a [u8],
}

#[derive(Serialize)]
struct Line<'a> {
    time: &'a str,
    method: &'a str,
    path: Cow<'a, str>,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    trace_id: Cow<'a, str>,
    body: Box<RawValue>,
}

/// The line of a request, without its end.
pub(crate) fn line(time: &str, request: &Request<'_>, hide: &Hide) -> Vec<u8> {
    hide.renew();
    let content_type = request.headers.get(hyper::header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let line = Line {
        time,
        method: request.method,
        path: hide.from(request.path),
        query: hide.map(query(request.query)),
        headers: hide.map(headers(request.headers)),
        trace_id: hide.from(request.trace_id),
        body: body::recorded(content_type, request.body, hide),
    };
    serde_json::to_vec(&line).expect("a line is plain data")
}

fn query(text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = |text: &str| {
            let bytes = percent_decode(&text.replace('+', " "));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        add(&mut found, decoded(name), decoded(value));
    }
    found
}

fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let mut found = Map::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        add(&mut found, name.as_str().to_owned(), value);
    }
    found
}

/// A name that comes twice has a list of values.
fn add(map: &mut Map<String, Value>, name: String, value: String) {
    let value = Value::String(if is_secret(&name) {
        HIDDEN.to_owned()
    } else {
        value
    });
    match map.get_mut(&name) {
        None => drop(map.insert(name, value)),
        Some(Value::Array(list)) => list.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    SECRET.iter().any(|word| name.contains(word))
}
