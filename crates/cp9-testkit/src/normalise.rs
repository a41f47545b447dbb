//! Takes out of a text what differs from run to run: paths, ids, hashes, times, pids, ports.

use std::sync::LazyLock;

use regex::Regex;

/// What is replaced in every text, in this order.
static RULES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|[+-]\d\d:?\d\d))?", "[TIME]"),
        (r#"("?\b(?:start_time|startTime)"?\s*[:=]\s*)"?\d+"?"#, "$1[TIME]"),
        (r#"("mark"\s*:\s*"[^"/]*/)\d+-\d+-[0-9a-f]+"#, "${1}[START]"),
        (r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "[ID]"),
        (r"(?i)\b[0-9a-f]{16,}\b", "[HASH]"),
        (r#"("?(?i:\b[a-z_]*(?:seconds|millis)|\bduration|\belapsed)"?\s*[:=]\s*)"?\d+(?:\.\d+)?(?:[eE]-?\d+)?"?"#, "$1[DURATION]"),
        (r"\b(?:\d+h ?)?(?:\d+m ?)?\d+(?:\.\d+)? ?(?:ms|µs|s)\b", "[DURATION]"),
        (r#"(?i)("?\bpids?"?\s*[:= ]\s*\[?"?|\bprocess )\d+"#, "$1[PID]"),
        (r"\b2\d{4}\b", "[PORT]"),
    ]
    .into_iter()
    .map(|(pattern, with)| (Regex::new(pattern).expect("a good pattern"), with))
    .collect()
});

/// The rules of all texts, and the literals of one sandbox.
#[derive(Debug, Clone, Default)]
pub struct Normaliser {
    literals: Vec<(String, String)>,
}

impl Normaliser {
    /// With no literals.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces a literal, before all rules; longer ones go first, so that a folder inside another
    /// keeps its own name.
    #[must_use]
    pub fn literal(mut self, text: &str, placeholder: &str) -> Self {
        if !text.is_empty() {
            self.literals
                .push((text.to_owned(), placeholder.to_owned()));
            self.literals
                .sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        }
        self
    }

    /// The text with placeholders.
    pub fn apply(&self, text: &str) -> String {
        let text = self
            .literals
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        RULES.iter().fold(text, |text, (rule, with)| {
            rule.replace_all(&text, *with).into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        Normaliser::new().apply(text)
    }

    #[test]
    fn times() {
        assert_eq!(
            plain(r#"{"time":"2026-01-02T03:04:05.678Z"}"#),
            r#"{"time":"[TIME]"}"#
        );
        assert_eq!(plain("at 2026-01-02T03:04:05+01:00."), "at [TIME].");
        assert_eq!(
            plain(r#""start_time": 1789000000,"#),
            r#""start_time": [TIME],"#
        );
        assert_eq!(plain("on 2026-01-02"), "on 2026-01-02");
    }

    #[test]
    fn ids_and_hashes() {
        assert_eq!(
            plain("id 0f8fad5b-d9cb-469f-a165-70867728950e!"),
            "id [ID]!"
        );
        assert_eq!(
            plain(&format!("sha256:{}", "a1".repeat(32))),
            "sha256:[HASH]"
        );
        assert_eq!(plain("service-0123456789abcdef"), "service-[HASH]");
        assert_eq!(
            plain("deadbeef stays, abcdefghijklmnopqrst too"),
            "deadbeef stays, abcdefghijklmnopqrst too"
        );
    }

    #[test]
    fn marks_of_starts() {
        assert_eq!(
            plain(r#"{"mark":"a-svc/11069-1-0123456789abcdef"}"#),
            r#"{"mark":"a-svc/[START]"}"#
        );
    }

    #[test]
    fn durations() {
        assert_eq!(
            plain("done in 1.25s, then 340 ms, 1m 02s, 2h3m4s"),
            "done in [DURATION], then [DURATION], [DURATION], [DURATION]"
        );
        assert_eq!(
            plain(r#"{"seconds":0.123,"millis": 12,"build_millis":7}"#),
            r#"{"seconds":[DURATION],"millis": [DURATION],"build_millis":[DURATION]}"#
        );
        assert_eq!(
            plain("5 services, 3 sockets, v1s"),
            "5 services, 3 sockets, v1s"
        );
    }

    #[test]
    fn pids_and_ports() {
        assert_eq!(
            plain(r#"{"pid":4711,"pid": 25000}"#),
            r#"{"pid":[PID],"pid": [PID]}"#
        );
        assert_eq!(
            plain("held by pid 4711, process 12, PID=9"),
            "held by pid [PID], process [PID], PID=[PID]"
        );
        assert_eq!(
            plain("http://127.0.0.1:23456/x 8080 30000 123456 20000"),
            "http://127.0.0.1:[PORT]/x 8080 30000 123456 [PORT]"
        );
    }

    #[test]
    fn literals_go_first_and_the_longer_before_the_shorter() {
        let normaliser = Normaliser::new()
            .literal("/tmp/x", "[ROOT]")
            .literal("/tmp/x/bin/cp9", "[CP9]")
            .literal("", "[NOTHING]");
        assert_eq!(
            normaliser.apply("/tmp/x/bin/cp9 in /tmp/x/work"),
            "[CP9] in [ROOT]/work"
        );
    }

    #[test]
    fn twice_is_once() {
        let text = "2026-01-02T03:04:05Z pid 7 in 3 ms at 127.0.0.1:20001, \"seconds\": 1.5";
        let once = plain(text);
        assert_eq!(plain(&once), once);
    }
}
