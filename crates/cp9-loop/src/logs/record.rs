//! One raw line made into one record of the index: time, level, clean and redacted text.

use cp9_model::report::LogLine;
use cp9_tools::{Redactor, strip_control};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::parse;

/// What is shown of one line.
pub(super) const LONGEST: usize = 64 * 1024;
/// How long after a dated line an undated one counts as its continuation.
const CONTINUES: SignedDuration = SignedDuration::from_secs(1);

/// A line of the index: what readers get, and where its raw line ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The line.
    #[serde(flatten)]
    pub(super) line: LogLine,
    /// The offset in the raw file just after the line.
    pub(super) offset: u64,
}

/// Makes records of one resource's lines, in order.
#[derive(Debug)]
pub(super) struct Recorder {
    service: String,
    resource: String,
    redactor: Redactor,
    dated: Option<(Timestamp, Timestamp)>,
}

impl Recorder {
    /// For the lines of one resource.
    pub(super) fn new(service: &str, resource: &str, redactor: Redactor) -> Self {
        Self {
            service: service.into(),
            resource: resource.into(),
            redactor,
            dated: None,
        }
    }

    /// Reads one raw line that arrived at a moment.
    pub(super) fn line(&mut self, raw: &[u8], arrived: Timestamp) -> LogLine {
        let text = clean(raw, &self.redactor);
        let parsed = parse::parse(&text);
        let time = match (parsed.time, self.dated) {
            (Some(own), _) => {
                self.dated = Some((own, arrived));
                own
            }
            // The later lines of a stack trace stay with their first.
            (None, Some((own, at))) if arrived.duration_since(at) <= CONTINUES => own,
            _ => arrived,
        };
        LogLine {
            time: time.to_string(),
            service: self.service.clone(),
            resource: self.resource.clone(),
            level: parsed.level.map(|level| level.word().to_owned()),
            trace_id: None,
            text,
        }
    }
}

/// Text of a raw line: what a terminal would show at its end, without escapes and secrets.
pub(crate) fn clean(raw: &[u8], redactor: &Redactor) -> String {
    let text = String::from_utf8_lossy(raw);
    let text = text.trim_end_matches('\r');
    let shown = text.rsplit('\r').next().unwrap_or(text);
    let mut text = redactor.redact(&strip_control(shown));
    text.truncate(text.floor_char_boundary(LONGEST));
    text
}

/// What may stand in a raw file in place of a line, if the line holds a secret.
pub(super) fn masked(raw: &[u8], redactor: &Redactor) -> Option<String> {
    let text = String::from_utf8_lossy(raw);
    let stripped = strip_control(&text);
    let shown = redactor.redact(&stripped);
    // Inside of an escape, where nobody sees it, a secret is a secret too.
    let tells = shown != stripped || stripped != text && redactor.redact(&text) != text;
    tells.then_some(shown)
}

#[cfg(test)]
mod tests {
    use cp9_tools::Secret;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("timestamp")
    }

    #[test]
    fn the_lines_own_time_wins_and_carries_its_continuation() {
        let mut recorder = Recorder::new("api", "api", Redactor::new());
        let now = at("2026-01-02T12:00:05Z");
        assert_eq!(recorder.line(b"plain", now).time, "2026-01-02T12:00:05Z");
        let dated = recorder.line(b"2026-01-02T12:00:00Z ERROR boom", now);
        assert_eq!(
            (dated.time.as_str(), dated.level.as_deref()),
            ("2026-01-02T12:00:00Z", Some("error"))
        );
        assert_eq!(
            recorder.line(b"  at main.rs:1", now).time,
            "2026-01-02T12:00:00Z"
        );
        let later = at("2026-01-02T12:00:09Z");
        assert_eq!(recorder.line(b"plain", later).time, "2026-01-02T12:00:09Z");
    }

    #[test]
    fn text_is_clean_and_redacted() {
        let redactor = Redactor::new();
        redactor.add(&Secret::new("hunter22".to_owned()));
        assert_eq!(
            clean(b"\x1b[31mpass hunter22\x1b[0m\r", &redactor),
            "pass ***"
        );
        assert_eq!(clean(b"10%\r50%\r100%", &redactor), "100%");
        assert_eq!(clean(b"bad \xff byte", &redactor), "bad \u{fffd} byte");
        let long = format!("{}hunter22", "x".repeat(LONGEST - 4));
        let shown = clean(long.as_bytes(), &redactor);
        assert!(shown.len() == LONGEST - 1 && shown.ends_with("x***"));
    }

    #[test]
    fn a_raw_line_is_masked_if_it_holds_a_secret_seen_or_not() {
        let redactor = Redactor::new();
        redactor.add(&Secret::new("hunter22".to_owned()));
        let masked = |raw: &[u8]| masked(raw, &redactor);
        assert_eq!(
            masked(b"pass \x1b[31mhunt\x1b[0mer22").as_deref(),
            Some("pass ***")
        );
        assert_eq!(
            masked(b"\x1b]0;hunter22\x07title").as_deref(),
            Some("title")
        );
        assert_eq!(masked(b"hunter22\r100%").as_deref(), Some("***100%"));
        assert_eq!(masked(b"\x1b[31mplain\xff\x1b[0m\r"), None);
    }

    #[test]
    fn a_record_is_one_flat_object() {
        let line =
            Recorder::new("api", "api", Redactor::new()).line(b"hi", at("2026-01-02T12:00:05Z"));
        let json = serde_json::to_string(&Record {
            line: line.clone(),
            offset: 3,
        })
        .expect("serialises");
        assert_eq!(
            json,
            r#"{"time":"2026-01-02T12:00:05Z","service":"api","resource":"api","text":"hi","offset":3}"#
        );
        assert_eq!(
            serde_json::from_str::<Record>(&json).expect("reads"),
            Record { line, offset: 3 }
        );
    }
}
