//! A recorded body: JSON as it came to the last digit, else text, else base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use serde_json::value::RawValue;

/// The JSON form of a body; an empty one is null.
pub(crate) fn recorded(content_type: Option<&str>, body: &[u8]) -> Box<RawValue> {
    if body.is_empty() {
        return raw(String::from("null"));
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return raw(json!({ "base64": STANDARD.encode(body) }).to_string());
    };
    // Parsing into values would round large numbers, and amounts are what is recorded here.
    if may_be_json(content_type) && serde_json::from_str::<&RawValue>(text).is_ok() {
        return raw(compact(text));
    }
    raw(json!(text).to_string())
}

/// Clients that say nothing mostly send JSON; those that say text mean it.
fn may_be_json(content_type: Option<&str>) -> bool {
    let Some(told) = content_type else {
        return true;
    };
    let told = told.trim().to_ascii_lowercase();
    !told.starts_with("text/") || told.starts_with("text/json")
}

/// JSON on one line: without the blanks between its tokens.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            quoted = c == '"';
        }
        out.push(c);
    }
    out
}

fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("it was parsed or printed as JSON")
}
