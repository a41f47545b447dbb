//! The one place that reads the time.

use jiff::Timestamp;

/// Now, to the millisecond, RFC 3339 in UTC.
#[expect(
    clippy::disallowed_methods,
    reason = "a stub is a service of its own and takes the time of its machine"
)]
pub(crate) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}
