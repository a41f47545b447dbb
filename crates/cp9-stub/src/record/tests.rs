//! Recordings: what a line holds, what it hides, and what becomes of the file.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests leave torn files behind on purpose"
)]

use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::file::{Recording, Repair};
use super::hide::Hide;
use super::line::{Request, line};

fn recorded(headers: &[(&'static str, &str)], query: &str, body: &[u8]) -> String {
    hiding(&Hide::default(), headers, query, body)
}

fn hiding(hide: &Hide, headers: &[(&'static str, &str)], query: &str, body: &[u8]) -> String {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            let value = HeaderValue::from_str(value).expect("a value");
            (HeaderName::from_static(name), value)
        })
        .collect();
    let request = Request {
        method: "POST",
        path: "/v1/events",
        query,
        headers: &headers,
        trace_id: "t-1",
        body,
    };
    String::from_utf8(line("2026-01-02T03:04:05.000Z", &request, hide)).expect("UTF-8")
}

fn field(text: &str, name: &str) -> Value {
    let line: Value = serde_json::from_str(text).expect("a JSON line");
    line[name].clone()
}

#[test]
fn a_line_holds_everything_in_order() {
    let text = recorded(&[("x-a", "1")], "b=2", br#"{"n":1}"#);
    assert_eq!(
        text,
        r#"{"time":"2026-01-02T03:04:05.000Z","method":"POST","path":"/v1/events","query":{"b":"2"},"headers":{"x-a":"1"},"trace_id":"t-1","body":{"n":1}}"#
    );
}

#[test]
fn secrets_are_hidden_wherever_they_come() {
    let text = recorded(
        &[
            ("authorization", "Bearer s3cr3t"),
            ("cookie", "id=s3cr3t"),
            ("set-cookie", "id=s3cr3t"),
            ("x-api-key", "s3cr3t"),
            ("x-amz-security-token", "s3cr3t"),
            ("x-plain", "seen"),
        ],
        "access_token=s3cr3t&API%5FKEY=s3cr3t&page=1",
        b"",
    );
    assert!(!text.contains("s3cr3t"), "{text}");
    assert_eq!(field(&text, "headers")["x-plain"], "seen");
    assert_eq!(field(&text, "headers")["authorization"], "***");
    assert_eq!(field(&text, "query")["page"], "1");
}

#[test]
fn what_is_to_be_hidden_is_so_wherever_it_comes() {
    let hide = Hide::new(|text| text.replace("hunter22", "***").replace("4711", "***"));
    let hidden = |content_type: &'static str, body: &[u8]| {
        let headers: &[(&str, &str)] = &[("content-type", content_type), ("x-a", "a hunter22")];
        let text = hiding(&hide, headers, "q=hunter22&hunter22=1", body);
        assert!(
            !text.contains("hunter22") && !text.contains("4711"),
            "{text}"
        );
        assert_eq!(field(&text, "headers")["x-a"], "a ***");
        assert_eq!(field(&text, "query"), json!({ "q": "***", "***": "1" }));
        field(&text, "body")
    };
    let json = br#"{ "a": ["hunter22", "\u0068unter22", 4711.0, 12, null], "hunter22": "\u00e9" }"#;
    assert_eq!(
        hidden("application/json", json),
        json!({ "a": ["***", "***", "***", 12, null], "***": "\u{e9}" })
    );
    assert_eq!(hidden("text/plain", b"is hunter22"), "is ***");
    assert_eq!(hidden("application/json", b"4711"), "***");
    assert_eq!(hidden("application/octet-stream", b"\xffhunter22"), "***");
}

#[test]
fn names_that_come_twice_have_a_list() {
    let text = recorded(
        &[("x-a", "1"), ("x-a", "2"), ("x-a", "3")],
        "q=a+b&q=%26&r",
        b"",
    );
    assert_eq!(field(&text, "headers")["x-a"], json!(["1", "2", "3"]));
    assert_eq!(field(&text, "query"), json!({ "q": ["a b", "&"], "r": "" }));
}

#[test]
fn bodies_are_json_text_or_base64() {
    let body = |content_type: &'static str, body: &[u8]| {
        let headers: &[(&str, &str)] = &[("content-type", content_type)];
        field(&recorded(headers, "", body), "body")
    };
    assert_eq!(
        body("application/json", b"{\"a\": [1]}"),
        json!({ "a": [1] })
    );
    assert_eq!(
        body("application/x-www-form-urlencoded", b"a=1"),
        json!("a=1")
    );
    assert_eq!(body("text/plain", b"12"), json!("12"));
    assert_eq!(body("application/json", b"{broken"), json!("{broken"));
    assert_eq!(body("application/json", b""), Value::Null);
    assert_eq!(
        body("application/octet-stream", b"\xff\x00"),
        json!({ "base64": "/wA=" })
    );
    let deep = "[".repeat(100_000);
    assert_eq!(body("application/json", deep.as_bytes()), json!(deep));
}

#[test]
fn json_keeps_every_digit_and_stays_on_one_line() {
    let amount = "{\n  \"amount\": 12345678901234567890.120,\r\n\t\"note\": \"a \\\" b\\\\\" }";
    let text = recorded(&[], "", amount.as_bytes());
    let told = r#""body":{"amount":12345678901234567890.120,"note":"a \" b\\"}}"#;
    assert!(text.ends_with(told), "{text}");
}

proptest! {
    #[test]
    fn any_request_is_one_json_line(
        query in "[ -~]{0,40}",
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let text = recorded(&[], &query, &body);
        prop_assert!(!text.contains('\n'));
        prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
    }

    #[test]
    fn json_bodies_come_back_as_they_were(value in any::<Vec<(String, f64)>>()) {
        let value: Value = value.into_iter().map(|(text, n)| json!({ text: n })).collect();
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        prop_assert_eq!(field(&recorded(&[], "", text.as_bytes()), "body"), value);
    }
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = Utf8Path::from_path(dir.path())
        .expect("UTF-8")
        .join("a/b/out.jsonl");
    (dir, path)
}

fn mode(path: &Utf8Path) -> u32 {
    let metadata = std::fs::metadata(path).expect("it is there");
    metadata.permissions().mode() & 0o777
}

#[test]
fn file_and_folders_are_made_private() {
    let (_dir, path) = folder();
    let (recording, repair) = Recording::open(&path).expect("it opens");
    assert_eq!(repair, Repair::Nothing);
    recording.append(b"{}".to_vec()).expect("it is written");
    assert_eq!(std::fs::read(&path).expect("a file"), b"{}\n");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
}

#[test]
fn a_file_that_was_taken_away_is_made_anew() {
    let (dir, path) = folder();
    let (recording, _) = Recording::open(&path).expect("it opens");
    recording.append(b"1".to_vec()).expect("it is written");
    std::fs::remove_dir_all(dir.path().join("a")).expect("it is removed");
    recording.append(b"2".to_vec()).expect("it is written");
    assert_eq!(std::fs::read(&path).expect("a file"), b"2\n");
}

#[test]
fn the_end_of_a_killed_recording_is_mended() {
    let long = "x".repeat(200_000);
    let torn = format!("{{\"a\":\"{long}");
    for (before, after, repair) in [
        (String::new(), String::new(), Repair::Nothing),
        ("{}\n".into(), "{}\n".into(), Repair::Nothing),
        (
            "{}\n{\"a\":1}".into(),
            "{}\n{\"a\":1}\n".into(),
            Repair::Ended,
        ),
        ("{}\n{\"a\":".into(), "{}\n".into(), Repair::Cut(5)),
        ("{\"a\":".into(), String::new(), Repair::Cut(5)),
        (
            format!("{{}}\n{torn}"),
            "{}\n".into(),
            Repair::Cut(torn.len() as u64),
        ),
    ] {
        let (_dir, path) = folder();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, &before).expect("it is written");
        let (_, found) = Recording::open(&path).expect("it opens");
        assert_eq!(found, repair);
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), after);
        assert_eq!(mode(&path), 0o600);
    }
}

#[test]
fn a_file_of_somebody_else_is_left_as_it_is() {
    let (_dir, path) = folder();
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    std::fs::write(&path, "my notes\nunfinished").expect("it is written");
    let error = Recording::open(&path).expect_err("no recording");
    assert_eq!(error.code(), "stub-output-foreign");
    assert!(error.to_string().contains(path.as_str()), "{error}");
    let after = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(after, "my notes\nunfinished");
}

#[test]
fn a_recording_that_cannot_be_written_is_named() {
    let (dir, _) = folder();
    let path = Utf8Path::from_path(dir.path()).expect("UTF-8");
    let error = Recording::open(path).expect_err("it is a folder");
    assert_eq!(
        error.to_string(),
        format!("cannot write recording `{path}`")
    );
}
