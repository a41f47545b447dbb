//! What one raw line says about itself: its time and level, in the formats that services use
//! (JSON, RFC 3339 prefix, tilog, klog, logfmt). Pure; a line that says nothing is fine.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// What a line says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Parsed {
    /// Its own time.
    pub(super) time: Option<Timestamp>,
    /// Its level.
    pub(super) level: Option<Level>,
}

/// How serious a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Trace or debug.
    Debug,
    /// Info or notice.
    Info,
    /// Warning.
    Warn,
    /// Error, fatal or panic.
    Error,
}

impl Level {
    /// The word in records and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }

    /// Reads the words of the usual logging libraries.
    pub fn parse(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "trace" | "trc" | "debug" | "dbg" | "debu" => Some(Self::Debug),
            "info" | "inf" | "information" | "notice" => Some(Self::Info),
            "warn" | "warning" | "wrn" => Some(Self::Warn),
            "error" | "err" | "eror" | "fatal" | "ftl" | "panic" | "dpanic" | "critical"
            | "crit" | "alert" | "emergency" => Some(Self::Error),
            _ => None,
        }
    }
}

/// Reads a line without its end.
pub(super) fn parse(line: &str) -> Parsed {
    let line = line.trim_start();
    if line.starts_with('{')
        && let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(line)
    {
        return json(&fields);
    }
    let (time, rest) = leading_time(line);
    let mut parsed = Parsed {
        time,
        level: leading_level(rest),
    };
    if parsed.time.is_none() || parsed.level.is_none() {
        let pairs = logfmt(line);
        parsed.time = parsed.time.or(pairs.time);
        parsed.level = parsed.level.or(pairs.level);
    }
    parsed
}

fn json(fields: &serde_json::Map<String, Value>) -> Parsed {
    let first = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
    let time = first(&["time", "ts", "timestamp", "@timestamp"]).and_then(|value| match value {
        Value::String(text) => whole_time(text),
        Value::Number(number) => number.as_f64().and_then(epoch),
        _ => None,
    });
    let level = first(&["level", "lvl", "severity"]).and_then(|value| match value {
        Value::String(word) => Level::parse(word),
        Value::Number(number) => number.as_u64().and_then(numeric_level),
        _ => None,
    });
    Parsed { time, level }
}

/// The numbers of bunyan and pino.
fn numeric_level(number: u64) -> Option<Level> {
    match number {
        10..=29 => Some(Level::Debug),
        30..=39 => Some(Level::Info),
        40..=49 => Some(Level::Warn),
        50..=69 => Some(Level::Error),
        _ => None,
    }
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by size.
fn epoch(number: f64) -> Option<Timestamp> {
    let seconds = match number {
        n if !(1e8..1e20).contains(&n) => return None,
        n if n < 1e11 => n,
        n if n < 1e14 => n / 1e3,
        n if n < 1e17 => n / 1e6,
        n => n / 1e9,
    };
    let duration = jiff::SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(duration).ok()
}

fn whole_time(text: &str) -> Option<Timestamp> {
    let (time, rest) = leading_time(text.trim());
    time.filter(|_| rest.trim().is_empty())
}

/// A time at the start of the line, maybe in brackets, and what follows it.
fn leading_time(line: &str) -> (Option<Timestamp>, &str) {
    let body = line.strip_prefix('[').unwrap_or(line);
    if let Some((time, length)) = dated(body) {
        return (Some(time), body.get(length..).unwrap_or(""));
    }
    (None, line)
}

/// `2026-01-02T15:04:05.000Z`, `2026-01-02 15:04:05,000`, `2026/01/02 15:04:05.000 +08:00`.
fn dated(text: &str) -> Option<(Timestamp, usize)> {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes
            .get(range)
            .is_some_and(|b| b.iter().all(u8::is_ascii_digit))
    };
    let date =
        digits(0..4) && digits(5..7) && digits(8..10) && matches!(bytes.get(4)?, b'-' | b'/');
    let clock = digits(11..13)
        && digits(14..16)
        && digits(17..19)
        && matches!(bytes.get(10)?, b'T' | b't' | b' ');
    if !date || !clock || bytes.get(7) != bytes.get(4) {
        return None;
    }
    let mut end = 19;
    if matches!(bytes.get(19), Some(b'.' | b',')) {
        end = 20
            + bytes[20..]
                .iter()
                .take(9)
                .take_while(|b| b.is_ascii_digit())
                .count();
    }
    let stamp = text
        .get(..end)?
        .replace('/', "-")
        .replacen(' ', "T", 1)
        .replace(',', ".");
    let civil: DateTime = stamp.trim_end_matches('.').parse().ok()?;
    let (offset, length) = zone(text.get(end..)?);
    let time = civil.to_zoned(TimeZone::fixed(offset)).ok()?.timestamp();
    Some((time, end + length))
}

/// A zone after the time: `Z`, `+08:00`, ` +08:00`, `+0800`; none counts as UTC.
fn zone(text: &str) -> (jiff::tz::Offset, usize) {
    let body = text.strip_prefix(' ').unwrap_or(text);
    let skipped = text.len() - body.len();
    let bytes = body.as_bytes();
    if matches!(bytes.first(), Some(b'Z' | b'z')) {
        return (jiff::tz::Offset::UTC, skipped + 1);
    }
    let sign = match bytes.first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return (jiff::tz::Offset::UTC, 0),
    };
    let colon = usize::from(bytes.get(3) == Some(&b':'));
    let number = |from: usize| {
        body.get(from..from + 2)
            .and_then(|two| two.parse::<i32>().ok())
    };
    let (Some(hours), Some(minutes)) = (number(1), number(3 + colon)) else {
        return (jiff::tz::Offset::UTC, 0);
    };
    match jiff::tz::Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)) {
        Ok(offset) => (offset, skipped + 5 + colon),
        Err(_) => (jiff::tz::Offset::UTC, 0),
    }
}

/// The level as the first word (`INFO`, `[info]`, `error:`, `error[E1]`), or in capitals as the
/// second; or klog's letter.
fn leading_level(rest: &str) -> Option<Level> {
    klog(rest).or_else(|| {
        let (first, tail) = word(rest);
        let marked = tail.starts_with([':', ']', '[']);
        let second = || {
            Some(word(tail).0)
                .filter(|word| capitals(word))
                .and_then(Level::parse)
        };
        Some(first)
            .filter(|word| marked || capitals(word))
            .and_then(Level::parse)
            .or_else(second)
    })
}

/// The first word of letters, and what follows it.
fn word(text: &str) -> (&str, &str) {
    let body = text.trim_start_matches(|c: char| c.is_whitespace() || "[]()|:-".contains(c));
    let end = body
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(body.len());
    body.split_at(end)
}

fn capitals(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// `I0102 15:04:05.000000 …`: the letter says the level, the year is missing.
fn klog(line: &str) -> Option<Level> {
    let bytes = line.as_bytes();
    let shape = bytes.get(1..5)?.iter().all(u8::is_ascii_digit) && bytes.get(5) == Some(&b' ');
    if !shape {
        return None;
    }
    match bytes[0] {
        b'I' => Some(Level::Info),
        b'W' => Some(Level::Warn),
        b'E' | b'F' => Some(Level::Error),
        _ => None,
    }
}

/// `time=… level=…` anywhere in the line, values plain or quoted.
fn logfmt(line: &str) -> Parsed {
    let value = |names: &[&str]| names.iter().find_map(|name| pair(line, name));
    Parsed {
        time: value(&["time", "ts", "timestamp"]).and_then(whole_time),
        level: value(&["level", "lvl", "severity"]).and_then(Level::parse),
    }
}

fn pair<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("{name}=");
    let (start, _) = line
        .match_indices(&key)
        .find(|(at, _)| *at == 0 || line.as_bytes()[at - 1] == b' ')?;
    let value = line.get(start + key.len()..)?;
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split(' ').next(),
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
