//! Percent-encoding as signatures want it: everything but letters, digits and `-._~`.

use std::fmt::Write as _;

/// Escapes a value for a query string, a form or one segment of a path.
pub fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Escapes a path and keeps its slashes.
pub(super) fn escape_path(path: &str) -> String {
    escape(path).replace("%2F", "/")
}

/// Pairs as a query string or form.
pub(super) fn form(pairs: &[(String, String)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}
