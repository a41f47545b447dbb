//! What is recorded, and what is not.

#![expect(
    clippy::disallowed_methods,
    reason = "a record is made full without writing all of it"
)]

use camino::Utf8Path;
use jiff::Timestamp;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::secret::Secret;

fn recorder() -> (Recorder, Redactor) {
    let redactor = Redactor::new();
    let clock = Clock::fixed(Timestamp::UNIX_EPOCH);
    (Recorder::new(redactor.clone(), clock, false), redactor)
}

fn ran(program: &str, outcome: &str) -> Call {
    Call {
        argv: vec![program.to_owned(), "status".to_owned()],
        ..Call::new(Kind::Program, program, 12, outcome.to_owned())
    }
}

fn lines(path: &Utf8Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().join("calls.jsonl")).unwrap();
    (folder, path)
}

#[test]
fn early_calls_are_kept_until_there_is_a_file() {
    let (recorder, _) = recorder();
    let (_folder, path) = folder();
    recorder.call(ran("git", "exit 0"));
    recorder.to_file(path.clone());
    recorder.call(ran("helm", "exit 1"));
    let lines = lines(&path);
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0],
        serde_json::json!({"time": "1970-01-01T00:00:00Z", "kind": "program", "what": "git",
            "argv": ["git", "status"], "millis": 12, "outcome": "exit 0"})
    );
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn quiet_calls_are_recorded_when_their_outcome_changes() {
    let (recorder, _) = recorder();
    let (_folder, path) = folder();
    recorder.to_file(path.clone());
    let quiet = recorder.quiet();
    for outcome in ["exit 1", "exit 1", "exit 0", "exit 0", "exit 1"] {
        quiet.call(ran("probe", outcome));
    }
    quiet.call(ran("other", "exit 1"));
    recorder.call(ran("probe", "exit 1"));
    let outcomes: Vec<String> = lines(&path)
        .iter()
        .map(|line| format!("{} {}", line["what"], line["outcome"]).replace('"', ""))
        .collect();
    assert_eq!(
        outcomes,
        [
            "probe exit 1",
            "probe exit 0",
            "probe exit 1",
            "other exit 1",
            "probe exit 1"
        ]
    );
}

#[test]
fn secrets_are_not_recorded_in_any_field() {
    let (recorder, redactor) = recorder();
    let (_folder, path) = folder();
    redactor.add(&Secret::new("hunter22"));
    recorder.to_file(path.clone());
    let secret = || Some("x-hunter22".to_owned());
    recorder.call(Call {
        argv: vec!["hunter22".to_owned()],
        url: secret(),
        path: secret(),
        cwd: secret(),
        ..Call::new(Kind::Http, "hunter22", 0, "hunter22".to_owned())
    });
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hunter22"), "{text}");
    assert_eq!(text.matches("***").count(), 6);
}

#[test]
fn failures_do_no_harm() {
    let (recorder, _) = recorder();
    let (folder, _) = folder();
    let missing = Utf8PathBuf::from_path_buf(folder.path().join("no/such/file")).unwrap();
    recorder.to_file(missing.clone());
    recorder.call(ran("git", "exit 0"));
    std::fs::create_dir_all(missing.parent().unwrap()).unwrap();
    recorder.call(ran("git", "exit 0"));
    assert_eq!(lines(&missing).len(), 1);
}

#[test]
fn a_torn_last_line_is_ended() {
    let (recorder, _) = recorder();
    let (_folder, path) = folder();
    let mut file = append::open_at_line_start(&path).unwrap();
    file.write_all(b"{\"time\":\"to").unwrap();
    recorder.to_file(path.clone());
    recorder.call(ran("git", "exit 0"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.ends_with("\"exit 0\"}\n"));
}

#[test]
fn sentences_for_people() {
    assert_eq!(
        sentence(&ran("git", "exit 0")),
        "ran git status (12 ms, exit 0)"
    );
    let call = Call {
        url: Some("http://127.0.0.1:1/\u{1b}[2J\n".to_owned()),
        ..Call::new(Kind::Http, "GET", 3, "200".to_owned())
    };
    assert_eq!(
        sentence(&call),
        "called GET http://127.0.0.1:1/  (3 ms, 200)"
    );
}

#[test]
fn a_full_record_is_put_aside_and_every_writer_follows() {
    let (one, _) = recorder();
    let (other, _) = recorder();
    let (_folder, path) = folder();
    for recorder in [&one, &other] {
        recorder.to_file(path.clone());
        recorder.call(ran("early", "exit 0"));
    }
    let full = File::options().write(true).open(&path).unwrap();
    full.set_len(MOST_BYTES).unwrap();
    one.call(ran("git", "exit 0"));
    other.call(ran("helm", "exit 0"));
    let words: Vec<Value> = lines(&path)
        .into_iter()
        .map(|line| line["what"].clone())
        .collect();
    assert_eq!(words, ["git", "helm"]);
    let aside = std::fs::metadata(format!("{path}.1")).unwrap();
    assert_eq!(aside.len(), MOST_BYTES);
}
