//! Lines as real loggers write them.

use super::*;

const ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn keys() -> Vec<String> {
    ["trace_id", "trace-id", "traceId", "X-Trace-Id"]
        .map(str::to_owned)
        .to_vec()
}

fn marks(id: &str, line: &str) -> bool {
    TraceId::parse(id).expect("an id").marks(line, &keys())
}

/// The formats that carry the id under a key; `@` stands for the id.
const KEYED: [&str; 25] = [
    // zap, production
    r#"{"level":"info","ts":1767366000.123,"caller":"api/server.go:42","msg":"created","trace_id":"@"}"#,
    // zap, development
    "2026-01-02T15:04:05.000Z\tINFO\tapi/server.go:42\tcreated\t{\"trace_id\": \"@\", \"n\": 1}",
    // zerolog
    r#"{"level":"info","traceId":"@","time":"2026-01-02T15:04:05Z","message":"created"}"#,
    // logrus, text and JSON
    r#"time="2026-01-02T15:04:05Z" level=info msg="created a thing" trace_id=@"#,
    r#"{"level":"info","msg":"created","time":"2026-01-02T15:04:05Z","trace-id":"@"}"#,
    // slog, text, grouped, JSON grouped
    r#"time=2026-01-02T15:04:05.000Z level=INFO msg=created trace_id="@""#,
    "time=2026-01-02T15:04:05.000Z level=INFO msg=created req.trace_id=@ req.n=1",
    r#"{"time":"2026-01-02T15:04:05Z","level":"INFO","msg":"created","req":{"trace_id":"@"}}"#,
    // tilog
    r#"[2026/01/02 15:04:05.000 +08:00] [INFO] [server.go:42] ["created it"] [trace_id=@] [n=1]"#,
    r#"[2026/01/02 15:04:05.000 +08:00] [INFO] [server.go:42] [created] ["trace-id"="@"]"#,
    r#"[2026/01/02 15:04:05.000 +08:00] [INFO] [server.go:42] [req] [body="{\"trace_id\":\"@\"}"]"#,
    // klog
    r#"I0102 15:04:05.000000 1 server.go:42] "created" traceId="@" n=1"#,
    // log4j, logback
    "2026-01-02 15:04:05,000 INFO  [main] com.example.Api - created {traceId=@, spanId=00f067aa0ba902b7}",
    "2026-01-02 15:04:05.000 INFO 1 [traceId: @] c.e.Api : created",
    // bunyan, pino, winston
    r#"{"name":"api","pid":1,"level":30,"traceId":"@","msg":"created","v":0}"#,
    r#"{"level":30,"time":1767366000123,"req":{"headers":{"x":1},"x-trace-id":"@"},"msg":"x"}"#,
    // structlog, Python logging
    "2026-01-02 15:04:05 [info     ] created   trace_id=@ user=me",
    "INFO:root:created trace_id='@'",
    // Go's header map, HTTP dumps, query texts
    "headers map[X-Trace-Id:[@] Accept:[*/*]]",
    "< x-trace-id: @",
    "GET /clusters?trace_id=@&page=2 200",
    // a container's own line inside a line
    r#"{"log":"{\"level\":\"info\",\"trace_id\":\"@\"}\n","stream":"stdout"}"#,
    // tracing-subscriber
    "2026-01-02T15:04:05Z  INFO request{trace_id=@ method=GET}: api: created",
    // W3C traceparent and trace with span as values
    r#"{"msg":"x","trace_id":"00-@-00f067aa0ba902b7-01"}"#,
    r#"{"headers":{"X-Trace-Id":["@"]}}"#,
];

#[test]
fn every_format_yields_its_id_and_no_other() {
    let other = "0".repeat(32);
    for sample in KEYED {
        let line = sample.replace('@', ID);
        assert!(marks(ID, &line), "{line}");
        assert!(marks(&ID.to_uppercase(), &line), "{line}");
        assert!(!marks(&other, &line), "{line}");
        assert!(!marks(&ID[..31], &line), "a part of it: {line}");
        assert!(
            !marks(ID, &sample.replace('@', &format!("{ID}a"))),
            "a longer one: {sample}"
        );
        assert!(
            !marks(ID, &sample.replace('@', &format!("{ID}-x"))),
            "a longer one: {sample}"
        );
        assert!(!marks(ID, &sample.replace('@', "")), "none: {sample}");
        assert_eq!(trace_id(&line, &keys()).as_deref(), Some(ID), "{line}");
    }
}

#[test]
fn a_plain_line_has_the_id_as_a_word_of_its_own() {
    for line in [
        "created for @",
        "@",
        "(@) done",
        "trace @, span 7",
        "ended with @.",
        "\"@\"",
        "INFO [demo,@,00f067aa0ba902b7] created",
        "INFO [demo] [@-00f067aa0ba902b7] created",
        "uber-trace-id: @:00f067aa0ba902b7:0:1",
        "traceparent: 00-@-00f067aa0ba902b7-01",
        "/traces/@",
        r#"{"msg":"created for @"}"#,
        r#"{"trace_id":"","msg":"created for @"}"#,
    ] {
        assert!(marks(ID, &line.replace('@', ID)), "{line}");
    }
    for line in [
        "x@",
        "@x",
        "x-@",
        "@_1",
        "@.log",
        "v.@",
        "é@",
        "[demo,a@]",
        "00-@-b7-01",
        "",
    ] {
        assert!(!marks(ID, &line.replace('@', ID)), "{line}");
    }
}

#[test]
fn a_line_of_another_trace_that_only_mentions_the_id_is_none_of_this_trace() {
    let other = "a".repeat(32);
    for line in [
        r#"{"trace_id":"%","msg":"follows @"}"#,
        "level=info msg=\"follows @\" trace_id=%",
        "[INFO] [\"follows @\"] [trace_id=%]",
    ] {
        let line = line.replace('@', ID).replace('%', &other);
        assert!(!marks(ID, &line) && marks(&other, &line), "{line}");
    }
}

#[test]
fn a_key_that_is_part_of_a_longer_one_is_another() {
    assert!(!marks(
        ID,
        &format!("parent_trace_id={ID}x trace_ids={ID}x")
    ));
    assert_eq!(trace_id(&format!("parent_trace_id={ID}"), &keys()), None);
    assert_eq!(trace_id(&format!("trace_id_hint={ID}"), &keys()), None);
    assert_eq!(trace_id("trace_id", &keys()), None);
    assert_eq!(trace_id("trace_id=", &keys()), None);
    assert_eq!(trace_id("trace_id=\"\" x=1", &keys()), None);
    assert_eq!(trace_id(r#"{"trace_id":7}"#, &keys()).as_deref(), Some("7"));
}

#[test]
fn case_counts_where_an_id_is_not_hexadecimal() {
    assert!(marks("req-Ab9z", "trace_id=req-Ab9z") && !marks("req-ab9z", "trace_id=req-Ab9z"));
    let uuid = "550e8400-e29b-41d4-a716-446655440000";
    assert!(marks(&uuid.to_uppercase(), &format!("trace_id={uuid}")));
    assert!(!marks("550e8400", &format!("for {uuid}")));
    assert!(marks("a+b/c==", "for a+b/c== now") && marks("a+b/c==", r#"{"traceId":"a+b\/c=="}"#));
    assert!(!marks("a+b/c==", "for xa+b/c== now"));
    assert!(marks("1.2", "for 1.2") && !marks("1.2", "for 1.2.3") && !marks("1.2", "for 11.2"));
}

#[test]
fn other_keys_may_be_paths() {
    let keys = ["trace.id".to_owned(), "correlation".to_owned()];
    for line in [
        r#"{"trace.id":"a1","x":1}"#,
        r#"{"trace":{"id":"a1"}}"#,
        r#"{"Correlation":"a1"}"#,
        "trace.id=a1",
    ] {
        assert_eq!(trace_id(line, &keys).as_deref(), Some("a1"), "{line}");
    }
    assert_eq!(trace_id(r#"{"trace_id":"a1"}"#, &keys), None);
}

#[test]
fn pasted_ids_are_trimmed_and_nonsense_is_no_id() {
    let parsed = TraceId::parse(&format!(" \"{ID}\"\n")).expect("an id");
    assert_eq!(parsed.as_str(), ID);
    for text in ["", "  ", "\"\"", "a b"] {
        assert_eq!(TraceId::parse(text), Err(NoTraceId), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_line_and_no_id_makes_it_panic(line in ".{0,80}", id in ".{0,20}", key in "[A-Za-z_.é-]{0,8}") {
        let keys = [key];
        let _ = trace_id(&line, &keys);
        if let Ok(id) = TraceId::parse(&id) {
            let _ = id.marks(&line, &keys);
        }
    }

    #[test]
    fn an_id_within_a_longer_word_is_never_found(id in "[a-z0-9]{1,12}", more in "[a-z0-9_-]{1,5}") {
        let id_parsed = TraceId::parse(&id).expect("an id");
        for line in [format!("( {id}{more}"), format!("{more}{id} )"), format!("trace_id={id}{more}")] {
            let split = trace_part(&format!("{id}{more}")).is_some();
            proptest::prop_assert!(split || !id_parsed.marks(&line, &keys()), "{line}");
        }
    }
}
