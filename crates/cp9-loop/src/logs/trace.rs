//! Which trace id a log line carries: under a configured key in JSON, logfmt, tilog, log4j and
//! their like, else as a word of its own. Pure.

use serde_json::{Map, Value};

/// A trace id that lines are looked for by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceId {
    id: String,
    /// Hexadecimal ids are the same in either case.
    hex: bool,
}

/// The text is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTraceId;

impl TraceId {
    /// Takes an id as a person pastes it.
    pub fn parse(text: &str) -> Result<Self, NoTraceId> {
        let id = text.trim().trim_matches(['"', '\'']);
        if id.is_empty() || id.contains(char::is_whitespace) {
            return Err(NoTraceId);
        }
        let hex = id
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        Ok(Self {
            id: id.to_owned(),
            hex,
        })
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.id
    }

    /// True when a value is this id, or one of a trace and its span.
    fn is(&self, value: &str) -> bool {
        self.same(value) || trace_part(value).is_some_and(|id| self.same(id))
    }

    fn same(&self, other: &str) -> bool {
        if self.hex {
            other.eq_ignore_ascii_case(&self.id)
        } else {
            other == self.id
        }
    }

    /// True when a line belongs to this trace. Where a key names a trace, only that counts; else the
    /// id must stand as a word of its own.
    pub fn marks(&self, line: &str, keys: &[String]) -> bool {
        if self.is_plain() && !contains(line, &self.id, self.hex) {
            return false;
        }
        let mut named = false;
        let mut found = false;
        values(line, keys, &mut |value| {
            named = true;
            found |= self.is(value);
        });
        found || (!named && self.stands_in(line))
    }

    /// No log format escapes such an id, so that a line without it need not be parsed.
    fn is_plain(&self) -> bool {
        self.id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    }

    fn stands_in(&self, line: &str) -> bool {
        let within = |c: char| belongs(c) || c == '.';
        if self.id.chars().all(within) {
            let mut words = line.split(|c| !within(c));
            return words.any(|word| self.is(word.trim_matches('.')));
        }
        // An id of other characters too: its ends must touch no other word.
        line.match_indices(&self.id).any(|(at, id)| {
            let before = line[..at].chars().next_back();
            let after = line[at + id.len()..].chars().next();
            !before.is_some_and(belongs) && !after.is_some_and(belongs)
        })
    }
}

/// What may go on within an id.
fn belongs(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

/// The trace id of a value that names trace and span: W3C's `00-<trace>-<span>-<flags>`, or
/// `<trace>-<span>` with or without flags, as B3 and Spring write it.
fn trace_part(value: &str) -> Option<&str> {
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = value.splitn(5, '-').collect();
    match parts[..] {
        [version, id, span, flags]
            if hex(version, 2) && hex(id, 32) && hex(span, 16) && hex(flags, 2) =>
        {
            Some(id)
        }
        [id, span, ..] if hex(id, 32) && hex(span, 16) => Some(id),
        _ => None,
    }
}

fn contains(line: &str, id: &str, any_case: bool) -> bool {
    if !any_case {
        return line.contains(id);
    }
    let (line, id) = (line.as_bytes(), id.as_bytes());
    line.windows(id.len())
        .any(|part| part.eq_ignore_ascii_case(id))
}

/// The first trace id that a key of a line holds.
pub(super) fn trace_id(line: &str, keys: &[String]) -> Option<String> {
    let mut first = None;
    values(line, keys, &mut |value| {
        first.get_or_insert_with(|| trace_part(value).unwrap_or(value).to_owned());
    });
    first
}

/// Hands over what the keys of a line hold; an empty value is as good as none.
fn values(line: &str, keys: &[String], sink: &mut dyn FnMut(&str)) {
    let body = line.trim_start();
    if body.starts_with('{')
        && let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(body)
    {
        return in_json(&fields, keys, true, sink);
    }
    for key in keys {
        in_text(line, key, sink);
    }
}

fn in_json(fields: &Map<String, Value>, keys: &[String], deeper: bool, sink: &mut dyn FnMut(&str)) {
    for (name, value) in fields {
        if keys.iter().any(|key| key.eq_ignore_ascii_case(name)) {
            match value {
                Value::String(text) if !text.is_empty() => sink(text),
                Value::Number(number) => sink(&number.to_string()),
                // Headers are lists of values.
                Value::Array(list) => list
                    .iter()
                    .filter_map(Value::as_str)
                    .filter(|text| !text.is_empty())
                    .for_each(&mut *sink),
                _ => {}
            }
        } else if deeper {
            nested(name, value, keys, sink);
        }
    }
}

/// One level down: an object, or a text that is a line of its own, as of a container's log.
fn nested(name: &str, value: &Value, keys: &[String], sink: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(inner) => {
            in_json(inner, keys, false, sink);
            // A key such as `trace.id` also names a path.
            let dotted: Vec<String> = keys
                .iter()
                .filter_map(|key| {
                    let (head, tail) = key.split_once('.')?;
                    head.eq_ignore_ascii_case(name).then(|| tail.to_owned())
                })
                .collect();
            if !dotted.is_empty() {
                in_json(inner, &dotted, false, sink);
            }
        }
        Value::String(text) if text.trim_start().starts_with('{') => {
            if let Ok(Value::Object(inner)) = serde_json::from_str(text) {
                in_json(&inner, keys, false, sink);
            }
        }
        Value::String(text) => {
            for key in keys {
                in_text(text, key, sink);
            }
        }
        _ => {}
    }
}

/// `key=value`, `key: value`, `"key"="value"`, `[key=value]`, `\"key\":\"value\"`.
fn in_text(line: &str, key: &str, sink: &mut dyn FnMut(&str)) {
    let (bytes, length) = (line.as_bytes(), key.len());
    let mut at = 0;
    while let Some(found) = find_key(&bytes[at..], key.as_bytes()) {
        let start = at + found;
        at = start + length;
        // A key that is part of a longer one is another key.
        let joined = line[..start].chars().next_back().is_some_and(belongs);
        if joined {
            continue;
        }
        if let Some(value) = line.get(at..).and_then(value_of)
            && !value.is_empty()
        {
            sink(value);
        }
    }
}

fn find_key(line: &[u8], key: &[u8]) -> Option<usize> {
    line.windows(key.len().max(1))
        .position(|part| part.eq_ignore_ascii_case(key))
}

/// The value in what follows a key.
fn value_of(rest: &str) -> Option<&str> {
    let rest = after_quote(rest).trim_start_matches(' ');
    let rest = rest.strip_prefix(['=', ':'])?;
    let rest = rest.trim_start_matches([' ', '[', '(', '{']);
    let value = after_quote(rest);
    let end = if value.len() < rest.len() {
        value.find(['"', '\'', '\\'])
    } else {
        value.find(|c: char| c.is_whitespace() || ",;]})\"'&|\\".contains(c))
    };
    Some(&value[..end.unwrap_or(value.len())])
}

/// Without an opening or closing quote, which may be escaped.
fn after_quote(text: &str) -> &str {
    let body = text.trim_start_matches('\\');
    body.strip_prefix(['"', '\'']).unwrap_or(text)
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
