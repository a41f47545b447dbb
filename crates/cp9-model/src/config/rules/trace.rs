//! Trace ids: a header that HTTP allows, keys that log lines can hold.

use crate::config::check::{Check, child};
use crate::config::raw::Session;
use crate::diagnostic::Code;

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    let Some(trace) = &session.trace else { return };
    if let Some(header) = trace.header.as_ref().filter(|text| !made_of(text, "-")) {
        let message = format!("`{header}` is no name of an HTTP header");
        let found = check.value(Code::VALUE, "/trace/header", message);
        check.add(found.help("use letters, digits and `-`, such as `X-Trace-Id`"));
    }
    for (index, key) in trace.keys.iter().flatten().enumerate() {
        if key.is_empty() || made_of(key, "_.-") {
            continue;
        }
        let message = format!("`{key}` is no key of log lines");
        let pointer = child("/trace/keys", &index.to_string());
        let found = check.value(Code::VALUE, &pointer, message);
        check.add(found.help("use letters, digits, `_`, `.` and `-`, such as `trace_id`"));
    }
}

fn made_of(text: &str, others: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}
