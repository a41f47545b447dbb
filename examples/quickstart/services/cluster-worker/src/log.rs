//! Log lines as JSON on standard output, and the trace ids that tie them together.
//! The same file stands in both services, as each is a checkout of its own; its tests stand in
//! cluster-api.

use crate::json::{object, Json};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Writes one line. A closed standard output is no reason to stop serving.
pub fn line(level: &str, trace_id: &str, msg: &str) {
    let line = object([
        ("time", Json::from(timestamp(SystemTime::now()))),
        ("level", Json::from(level)),
        ("msg", Json::from(msg)),
        ("trace_id", Json::from(trace_id)),
    ]);
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Logs what went wrong and ends the process, for errors at the start.
pub fn fatal(msg: &str) -> ! {
    line("error", "", msg);
    std::process::exit(1)
}

/// A new trace id: 32 hexadecimal digits.
pub fn new_trace_id() -> String {
    format!("{:016x}{:016x}", random(), random())
}

/// The one source of randomness in `std`: each `RandomState` has fresh keys.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A time as RFC 3339 in UTC, with milliseconds.
pub fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    // Howard Hinnant's `civil_from_days`: years start in March here, so that the leap day comes last.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}
