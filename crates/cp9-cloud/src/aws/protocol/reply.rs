//! An answer, and the way into it that is the same for XML and JSON.

use std::fmt;

use serde_json::Value;

use super::call::{ApiCall, Protocol};
use super::xml;
use cp9_tools::HttpResponse;

/// What names the request in an answer.
const REQUEST_IDS: [&str; 3] = ["x-amzn-requestid", "x-amz-request-id", "x-amz-id-2"];

/// An answer. `Debug` shows no values, which may be secrets.
#[derive(Clone, PartialEq)]
pub struct ApiReply {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as a value, whichever the protocol; null when it is neither XML nor JSON.
    pub body: Value,
    /// The body as it came.
    pub raw: Vec<u8>,
}

impl ApiReply {
    /// Reads a good answer; `None` when it is not what the protocol promises.
    pub(crate) fn of(call: &ApiCall, response: HttpResponse) -> Option<Self> {
        let body = match call.protocol {
            Protocol::Query => unwrapped(call, xml_of(&response.body)?),
            Protocol::Ec2 => xml_of(&response.body)?,
            Protocol::Json10 | Protocol::Json11 => json_of(&response.body)?,
            Protocol::RestJson => json_of(&response.body).unwrap_or_default(),
            Protocol::RestXml => xml_of(&response.body).unwrap_or_default(),
        };
        Some(Self {
            status: response.status,
            headers: response.headers,
            body,
            raw: response.body,
        })
    }

    /// The first header of a name; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// The id under which AWS knows the request.
    pub fn request_id(&self) -> Option<&str> {
        REQUEST_IDS.iter().find_map(|name| self.header(name))
    }

    /// The text at a path such as `Cluster.Name`, when it is there and not empty.
    pub fn text(&self, path: &str) -> Option<&str> {
        text(&self.body, path)
    }

    /// Everything at a path such as `reservationSet.instancesSet.instanceId`.
    pub fn list(&self, path: &str) -> Vec<&Value> {
        list(&self.body, path)
    }
}

impl fmt::Debug for ApiReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} bytes", self.status, self.raw.len())
    }
}

/// The text at a path below a value, when it is there and not empty.
pub fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    let found = list(value, path).into_iter().next()?;
    found.as_str().filter(|text| !text.is_empty())
}

/// Everything at a path below a value. Lists on the way are walked through, one thing counts as a
/// list of one, and an empty element, which XML cannot tell from an empty list, as none.
pub fn list<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![value];
    for name in path.split('.').filter(|name| !name.is_empty()) {
        let children = found.into_iter().flat_map(spread);
        found = children.filter_map(|value| value.get(name)).collect();
    }
    let found = found.into_iter().flat_map(spread);
    found
        .filter(|value| !value.is_null() && value.as_str() != Some(""))
        .collect()
}

fn spread(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(spread).collect(),
        other => vec![other],
    }
}

fn xml_of(body: &[u8]) -> Option<Value> {
    let (_, value) = xml::parse(std::str::from_utf8(body).ok()?)?;
    Some(value)
}

fn json_of(body: &[u8]) -> Option<Value> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Some(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_slice(body).ok()
}

/// Takes off the `…Result` element, which all but the emptiest query answers have.
fn unwrapped(call: &ApiCall, mut body: Value) -> Value {
    let result = format!("{}Result", call.operation);
    match body.get_mut(&result) {
        Some(inner) => inner.take(),
        None => body,
    }
}
