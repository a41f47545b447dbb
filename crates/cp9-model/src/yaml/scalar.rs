//! What a scalar means, by the rules of the Go reader that kubectl uses (`goyaml.v2/resolve.go`
//! of sigs.k8s.io/yaml): YAML 1.1 booleans, C-like octals, digits with underscores.

use serde_json::Number;

use super::node::Value;

/// The prefix of the core tags.
const CORE: &str = "tag:yaml.org,2002:";

/// The outcome of resolving a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolved {
    /// A value.
    Value(Value),
    /// A number that JSON cannot hold, such as `.inf`; the reason.
    NoJson(&'static str),
    /// The text does not fit its tag; the tag's short name.
    Mismatch(String),
}

/// Resolves a scalar from its text, whether it is plain, and its tag.
pub(super) fn resolve(text: &str, plain: bool, tag: Option<&str>) -> Resolved {
    let tag = match tag {
        None if plain => return resolve_plain(text),
        None | Some("!") => return string(text),
        Some(tag) => tag,
    };
    match tag.strip_prefix(CORE) {
        Some("bool" | "int" | "float" | "null") => typed(text, &tag[CORE.len()..]),
        Some("binary") => binary(text),
        _ => string(text),
    }
}

fn string(text: &str) -> Resolved {
    Resolved::Value(Value::String(text.to_owned()))
}

fn typed(text: &str, tag: &str) -> Resolved {
    let resolved = resolve_plain(text);
    let fits = match &resolved {
        Resolved::Value(Value::Bool(_)) => tag == "bool",
        Resolved::Value(Value::Null) => tag == "null",
        Resolved::Value(Value::Number(number)) => {
            tag == "float" || (tag == "int" && !number.is_f64())
        }
        Resolved::NoJson(_) => tag == "float" || tag == "int",
        _ => false,
    };
    if fits {
        resolved
    } else {
        Resolved::Mismatch(format!("!!{tag}"))
    }
}

/// Resolves a plain, untagged scalar.
pub fn resolve_plain(text: &str) -> Resolved {
    let value = match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => return Resolved::NoJson("is no JSON number"),
        _ => return number(text),
    };
    Resolved::Value(value)
}

fn number(text: &str) -> Resolved {
    match text.as_bytes().first() {
        Some(b'.') => float(text).unwrap_or_else(|| string(text)),
        Some(b'0'..=b'9' | b'+' | b'-') => {
            let digits = text.replace('_', "");
            let found = integer(&digits).or_else(|| float(&digits));
            found.unwrap_or_else(|| string(text))
        }
        _ => string(text),
    }
}

/// An integer as Go's `ParseInt` with base 0 takes it: `0x`, `0o`, `0b`, and octal by a leading zero.
fn integer(digits: &str) -> Option<Resolved> {
    let (negative, body) = match digits.as_bytes().first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => (false, digits),
    };
    let (base, body) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'o' | b'O', ..] => (8, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        [b'0', _, ..] => (8, &body[1..]),
        _ => (10, body),
    };
    if body.is_empty() || !body.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let Ok(magnitude) = i128::from_str_radix(body, base) else {
        return Some(too_big());
    };
    let value = if negative { -magnitude } else { magnitude };
    let signed = i64::try_from(value).ok().map(Number::from);
    let number = signed.or_else(|| {
        u64::try_from(value)
            .ok()
            .filter(|_| !digits.starts_with('+'))
            .map(Number::from)
    });
    Some(number.map_or_else(too_big, |number| Resolved::Value(Value::Number(number))))
}

fn too_big() -> Resolved {
    Resolved::NoJson("does not fit in 64 bits")
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, finite.
fn float(text: &str) -> Option<Resolved> {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let good = digits(whole) && (fraction.is_empty() || digits(fraction))
        || whole.is_empty() && mantissa.starts_with('.') && digits(fraction);
    let power = exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
    if !good || !power {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    Some(Resolved::Value(Value::Number(whole_or_float(value)?)))
}

/// Go prints a whole float without a fraction, so `1e3` is `1000` in JSON.
fn whole_or_float(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole and below 2^53, so exact"
        )]
        let whole = value as i64;
        return Some(Number::from(whole));
    }
    Number::from_f64(value)
}

/// `!!binary` holds base64; its bytes become text, as in Go.
fn binary(text: &str) -> Resolved {
    let Some(bytes) = base64(text) else {
        return Resolved::Mismatch("!!binary".into());
    };
    match String::from_utf8(bytes) {
        Ok(text) => Resolved::Value(Value::String(text)),
        Err(_) => Resolved::NoJson("is binary and no UTF-8 text"),
    }
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let body = symbols
        .strip_suffix(b"==")
        .or_else(|| symbols.strip_suffix(b"="))
        .unwrap_or(&symbols);
    if !symbols.len().is_multiple_of(4) || body.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(body.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for symbol in body {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = (held << 6 | u32::from(value)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}
