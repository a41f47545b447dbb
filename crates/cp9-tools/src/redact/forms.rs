//! The forms in which a secret travels: plain, base64, hexadecimal, and escaped for URLs and JSON here;
//! as text of languages, markup and shells in `quoted`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::{SHORTEST, quoted};

/// Columns after which encoders break base64: PEM and MIME.
const BASE64_COLUMNS: [usize; 2] = [64, 76];

/// Every literal that gives the secret away.
pub(super) fn of(secret: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    add_value(&mut forms, secret);
    // A stream is redacted line by line, so the lines of a key file count by themselves.
    for line in secret.lines().map(str::trim) {
        if line.len() >= 2 * SHORTEST && line != secret {
            add_value(&mut forms, line);
        }
    }
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn add_value(forms: &mut BTreeSet<String>, value: &str) {
    forms.insert(value.to_owned());
    forms.extend(quoted::of(value));
    add_hex(forms, value.as_bytes());
    add_base64(forms, value.as_bytes());
    add_urls(forms, value);
    add_json(forms, value);
}

fn add_hex(forms: &mut BTreeSet<String>, value: &[u8]) {
    let lower = value.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    forms.insert(lower.to_ascii_uppercase());
    forms.insert(lower);
}

fn add_base64(forms: &mut BTreeSet<String>, value: &[u8]) {
    for whole in [STANDARD.encode(value), URL_SAFE.encode(value)] {
        add_urls(forms, &whole);
        for columns in BASE64_COLUMNS {
            let lines = whole.as_bytes().chunks(columns);
            let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
            forms.extend(
                lines
                    .filter(|line| line.len() >= 2 * SHORTEST)
                    .map(str::to_owned),
            );
        }
        forms.insert(whole);
    }
    for offset in 0..3 {
        let mut shifted = vec![0; offset];
        shifted.extend_from_slice(value);
        // Characters that also carry bits of a neighbour differ from place to place.
        let first = (offset * 8).div_ceil(6);
        let last = shifted.len() * 8 / 6;
        for encoded in [
            STANDARD_NO_PAD.encode(&shifted),
            URL_SAFE_NO_PAD.encode(&shifted),
        ] {
            let inner = &encoded[first..last];
            add_urls(forms, inner);
            forms.insert(inner.to_owned());
        }
    }
}

/// What encoders of different languages leave as it is, beside letters and digits.
const URL_LEFT_ALONE: [&str; 10] = [
    "-_.~",
    "-_.~/",
    "-_.",
    "-_.*",
    "-_.~*",
    "-_.~$&+=:@",
    "-_.!~*'();/?:@&=+$,#",
    "-_.!~*'()",
    "-_.~!$&'()*+,;=:@",
    "-_.~!$&'()*+,;=:@/?#",
];

fn add_urls(forms: &mut BTreeSet<String>, value: &str) {
    for kept in URL_LEFT_ALONE {
        let upper = percent(value, kept);
        forms.insert(lower_escapes(&upper, '%', 2));
        forms.insert(upper.replace("%20", "+"));
        forms.insert(lower_escapes(&upper.replace("%20", "+"), '%', 2));
        forms.insert(upper);
    }
    forms.insert(escape(value));
}

/// JavaScript's own `escape`.
fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for unit in value.encode_utf16() {
        let plain = u8::try_from(unit).ok().map(char::from);
        match plain.filter(|c| c.is_ascii_alphanumeric() || "@*_+-./".contains(*c)) {
            Some(c) => escaped.push(c),
            None if unit < 0x100 => drop(write!(escaped, "%{unit:02X}")),
            None => drop(write!(escaped, "%u{unit:04X}")),
        }
    }
    escaped
}

fn percent(value: &str, kept: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || (byte.is_ascii() && kept.contains(char::from(byte))) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// The same text with the hexadecimal digits after each marker in lower case.
fn lower_escapes(text: &str, marker: char, digits: usize) -> String {
    let mut left = 0;
    text.chars()
        .map(|c| {
            if c == marker {
                left = digits;
                return c;
            }
            if left == 0 {
                return c;
            }
            left -= 1;
            c.to_ascii_lowercase()
        })
        .collect()
}

fn add_json(forms: &mut BTreeSet<String>, value: &str) {
    let mut level: BTreeSet<String> = BTreeSet::from([value.to_owned()]);
    // A JSON text inside a JSON string is escaped twice.
    for _ in 0..2 {
        level = level.iter().flat_map(|text| json_forms(text)).collect();
        forms.extend(level.iter().cloned());
    }
}

fn json_forms(text: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    let plain = json_escape(text, |_| false);
    forms.insert(plain.replace('/', r"\/"));
    forms.insert(plain);
    let html = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    forms.insert(json_escape(text, html));
    let ascii = json_escape(text, |c| !c.is_ascii() || c == '\u{7f}');
    forms.insert(ascii.replace('/', r"\/"));
    forms.insert(ascii);
    forms.insert(json_escape(text, |c| html(c) || !c.is_ascii()));
    let upper: Vec<String> = forms.iter().map(|form| upper_unicode(form)).collect();
    forms.extend(upper);
    forms
}

fn json_escape(text: &str, also: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            c if c < ' ' || also(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            }
            c => escaped.push(c),
        }
    }
    escaped
}

fn upper_unicode(form: &str) -> String {
    let mut upper = String::with_capacity(form.len());
    let mut rest = form;
    while let Some(at) = rest.find("\\u") {
        let end = (at + 6).min(rest.len());
        upper.push_str(&rest[..at + 2]);
        if !rest.is_char_boundary(end) {
            rest = &rest[at + 2..];
            continue;
        }
        upper.push_str(&rest[at + 2..end].to_ascii_uppercase());
        rest = &rest[end..];
    }
    upper.push_str(rest);
    upper
}
