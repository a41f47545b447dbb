//! A recorded body: JSON as it came to the last digit, else text, else base64; without what is to be
//! hidden.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use serde_json::value::RawValue;

use super::hide::{HIDDEN, Hide};

/// The JSON form of a body; an empty one is null.
pub(crate) fn recorded(content_type: Option<&str>, body: &[u8], hide: &Hide) -> Box<RawValue> {
    if body.is_empty() {
        return raw(String::from("null"));
    }
    let Ok(text) = std::str::from_utf8(body) else {
        let hidden = hide.finds(&String::from_utf8_lossy(body));
        let told = json!({ "base64": STANDARD.encode(body) });
        return raw(if hidden { json!(HIDDEN) } else { told }.to_string());
    };
    // Parsing into values would round large numbers, and amounts are what is recorded here.
    if may_be_json(content_type) && serde_json::from_str::<&RawValue>(text).is_ok() {
        let told = compact(text, hide);
        // One that is JSON itself is spread over many tokens.
        return raw(if hide.finds(&told) {
            json!(HIDDEN).to_string()
        } else {
            told
        });
    }
    raw(json!(hide.from(text)).to_string())
}

/// Clients that say nothing mostly send JSON; those that say text mean it.
fn may_be_json(content_type: Option<&str>) -> bool {
    let Some(told) = content_type else {
        return true;
    };
    let told = told.trim().to_ascii_lowercase();
    !told.starts_with("text/") || told.starts_with("text/json")
}

/// JSON on one line: without the blanks between its tokens, and without what is to be hidden.
fn compact(text: &str, hide: &Hide) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let (token, behind) = rest.split_at(token(rest));
        out.push_str(&hide.token(token));
        rest = behind.trim_ascii_start();
    }
    out
}

/// The length of the first token of valid JSON.
fn token(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |byte: &u8| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
    match bytes[0] {
        b'"' => {
            let mut escaped = false;
            let end = bytes[1..].iter().position(|byte| {
                let closes = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                closes
            });
            end.map_or(text.len(), |end| end + 2)
        }
        first if ends(&first) => 1,
        _ => {
            let end = |byte: &u8| ends(byte) || byte.is_ascii_whitespace();
            bytes.iter().position(end).unwrap_or(text.len())
        }
    }
}

fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("it was parsed or printed as JSON")
}
