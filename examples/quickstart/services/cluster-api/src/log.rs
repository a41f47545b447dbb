//! Log lines as JSON on standard output, and the trace ids that tie them together.
//! The same file stands in both services, as each is a checkout of its own.

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
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil_date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60,
        since.subsec_millis()
    )
}

/// Days since 1970-01-01 as year, month, day. Years start in March here, so that the leap day
/// comes last (Howard Hinnant's `civil_from_days`).
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339() {
        let at = |millis| timestamp(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_827_696_789), "2000-02-29T12:34:56.789Z");
        assert_eq!(at(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn trace_ids_differ() {
        let (one, two) = (new_trace_id(), new_trace_id());
        assert_eq!(one.len(), 32);
        assert_ne!(one, two);
    }
}
