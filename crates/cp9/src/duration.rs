//! Durations as people write them: `5m`, `90s`, `1h30m`, `2 days`.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use thiserror::Error;

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum DurationError {
    /// Not understood at all.
    #[error("write it like `90s`, `5m` or `1h30m`")]
    Form,
    /// Before now.
    #[error("it must not be negative")]
    Negative,
}

/// Reads a duration; days have 24 hours, months and years are refused.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let span: Span = text.parse().map_err(|_| DurationError::Form)?;
    let signed = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| DurationError::Form)?;
    Duration::try_from(signed).map_err(|_| DurationError::Negative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        let good = [
            ("90s", 90),
            ("5m", 300),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("2d", 172_800),
            ("0s", 0),
            ("PT5M", 300),
        ];
        for (text, seconds) in good {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "5",
            "abc",
            "m5",
            "5 parsecs",
            "1mo",
            "1y",
            "999999999999999999999h",
            "5m 5m",
        ] {
            assert_eq!(parse(text), Err(DurationError::Form), "{text}");
        }
        assert_eq!(parse("-5m"), Err(DurationError::Negative));
        assert_eq!(parse("5m ago"), Err(DurationError::Negative));
    }
}
