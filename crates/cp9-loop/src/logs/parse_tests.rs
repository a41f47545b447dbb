//! Sample lines of real logging libraries.

use proptest::prelude::*;

use super::*;

fn seen(line: &str) -> (Option<String>, Option<&'static str>) {
    let parsed = parse(line);
    (
        parsed.time.map(|time| time.to_string()),
        parsed.level.map(Level::word),
    )
}

#[track_caller]
fn check(line: &str, time: Option<&str>, level: Option<&'static str>) {
    assert_eq!(seen(line), (time.map(str::to_owned), level), "{line}");
}

#[test]
fn json_lines() {
    let noon = Some("2026-01-02T12:00:00Z");
    check(
        r#"{"time":"2026-01-02T12:00:00Z","level":"INFO","msg":"x"}"#,
        noon,
        Some("info"),
    );
    check(
        r#"{"ts":"2026-01-02T20:00:00+08:00","lvl":"warning"}"#,
        noon,
        Some("warn"),
    );
    check(
        r#"{"level":"fatal","ts":1767355200.5}"#,
        Some("2026-01-02T12:00:00.5Z"),
        Some("error"),
    );
    check(r#"{"level":30,"time":1767355200000}"#, noon, Some("info"));
    check(
        r#"{"@timestamp":"2026-01-02T12:00:00Z","severity":"DEBUG"}"#,
        noon,
        Some("debug"),
    );
    check(r#"{"time":12,"level":{"a":1}}"#, None, None);
    check(r#"{"time":"2026-01-02T12:00:00Z""#, None, None);
}

#[test]
fn dated_prefixes() {
    check(
        "2026-01-02T12:00:00.123456Z  INFO api: started",
        Some("2026-01-02T12:00:00.123456Z"),
        Some("info"),
    );
    check(
        "[2026-01-02T12:00:00Z WARN  api] slow",
        Some("2026-01-02T12:00:00Z"),
        Some("warn"),
    );
    check(
        "2026-01-02 12:00:00,250 ERROR boom",
        Some("2026-01-02T12:00:00.25Z"),
        Some("error"),
    );
    check(
        "[2026/01/02 20:00:00.000 +08:00] [INFO] [server.go:1] [\"up\"]",
        Some("2026-01-02T12:00:00Z"),
        Some("info"),
    );
    check(
        "2026/01/02 12:00:00 listening on :80",
        Some("2026-01-02T12:00:00Z"),
        None,
    );
    check("2026-13-02T12:00:00Z nonsense", None, None);
    check("2026-01-02", None, None);
}

#[test]
fn logfmt_and_words() {
    check(
        r#"time="2026-01-02T12:00:00Z" level=warning msg="a b""#,
        Some("2026-01-02T12:00:00Z"),
        Some("warn"),
    );
    check(
        "ts=2026-01-02T12:00:00Z lvl=dbg at=x",
        Some("2026-01-02T12:00:00Z"),
        Some("debug"),
    );
    check("mylevel=error", None, None);
    check(
        "I0102 15:04:05.000000       1 main.go:1] hi",
        None,
        Some("info"),
    );
    check(
        "E0102 15:04:05.000000       1 main.go:1] hi",
        None,
        Some("error"),
    );
    check("ERROR: cannot bind", None, Some("error"));
    check("error: linking failed", None, Some("error"));
    check("error[E0308]: mismatched types", None, Some("error"));
    check("warning: unused variable", None, Some("warn"));
    check("[error] no", None, Some("error"));
}

#[test]
fn plain_prose_has_no_level() {
    for line in [
        "",
        "hello",
        "no error here",
        "info about things",
        "the panic room: a film",
        "INFORMATION DESK X",
    ] {
        assert_eq!(parse(line).time, None, "{line}");
    }
    check("no error here", None, None);
    check("info about things", None, None);
    check("the panic room: a film", None, None);
}

proptest! {
    #[test]
    fn never_panics(line in "\\PC{0,80}") {
        parse(&line);
    }

    #[test]
    fn never_panics_near_a_time(tail in "[0-9 :.,Z+\\-/äß]{0,24}") {
        parse(&format!("2026-01-02T12:00:00{tail}"));
        parse(&format!("[2026/01/02{tail}"));
        parse(&tail);
    }
}
