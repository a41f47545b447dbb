//! `cp9 logs --trace-id`: one request across the services.

use std::time::Duration;

use cp9_testkit::{Sandbox, http_post, wait_until};
use serde_json::Value;

use crate::prebuilt;

const LIMIT: Duration = Duration::from_secs(30);

/// Creates a cluster and returns the trace id of the call.
fn create(sandbox: &Sandbox, name: &str) -> String {
    let api = sandbox.endpoint("cluster-api");
    let url = format!("{api}/v1beta1/projects/p1/clusters");
    let reply = http_post(&url, &format!(r#"{{"name":"{name}"}}"#)).expect("an answer");
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.header("X-Trace-Id").expect("a trace id").to_owned()
}

/// The lines of a trace once both services and the stubs that the call went through have written theirs.
fn timeline(sandbox: &Sandbox, id: &str) -> Vec<Value> {
    wait_until(LIMIT, "lines of all services", || {
        let run = sandbox
            .cp9(["logs", "--trace-id", id, "--json"])
            .run()
            .assert_code(0);
        let data = run.data();
        let lines = data["lines"].as_array().expect("lines").clone();
        assert_eq!(data["count"], lines.len());
        let of = |name: &str| lines.iter().any(|line| line["service"] == name);
        let all = [
            "cluster-api",
            "cluster-worker",
            "account-svc",
            "metering",
            "billing-svc",
        ];
        all.into_iter().all(of).then_some(lines)
    })
}

#[test]
fn one_call_is_followed_through_all_services_in_time_order() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let (one, two) = (create(&sandbox, "one"), create(&sandbox, "two"));
    let lines = timeline(&sandbox, &one);
    assert!(
        lines.iter().all(|line| line["trace_id"] == one.as_str()),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .all(|line| !line["text"].to_string().contains(&two))
    );
    let times: Vec<&str> = lines
        .iter()
        .map(|line| line["time"].as_str().expect("a time"))
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    for recording in ["metering/payloads.jsonl", "billing-svc/invoices.jsonl"] {
        let path = format!(".cp9/{}/stubs/{recording}", sandbox.session());
        let recorded = sandbox.read(&path);
        let of = |id: &str| recorded.lines().filter(|line| line.contains(id)).count();
        assert_eq!((of(&one), of(&two)), (1, 1), "{recorded}");
    }

    let upper = timeline(&sandbox, &one.to_uppercase());
    assert_eq!(upper, lines, "hexadecimal ids have no case");
    let part = sandbox
        .cp9(["logs", "--trace-id", &one[..20], "--json"])
        .run()
        .assert_code(0);
    assert_eq!(part.data()["count"], 0, "a part of an id is another id");
    assert!(part.stderr.contains("no line carries"), "{}", part.stderr);

    let text = sandbox
        .cp9(["logs", &format!("trace-id={one}")])
        .run()
        .assert_code(0);
    assert_eq!(text.stdout.lines().count(), lines.len());
    for (line, json) in text.stdout.lines().zip(&lines) {
        let (time, service) = (&json["time"], &json["service"]);
        let start = format!(
            "[{}] {} | ",
            time.as_str().expect("text"),
            service.as_str().expect("text")
        );
        assert!(line.starts_with(&start) && line.contains(&one), "{line}");
    }
    sandbox.destroy();
}

#[test]
fn a_trace_combines_with_the_other_filters() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let id = create(&sandbox, "one");
    let all = timeline(&sandbox, &id);
    let count = |more: &[&str]| {
        let args = ["logs", "--trace-id", &id, "--json"]
            .into_iter()
            .chain(more.iter().copied());
        sandbox.cp9(args).run().assert_code(0).data()["count"].clone()
    };
    let of_worker = all
        .iter()
        .filter(|line| line["service"] == "cluster-worker")
        .count();
    assert_eq!(count(&["cluster-worker"]), of_worker);
    assert_eq!(count(&["--service", "cluster-worker"]), of_worker);
    assert_eq!(count(&["--since", "1h"]), all.len());
    assert_eq!(count(&["--level", "error"]), 0);
    let invalid = sandbox
        .cp9(["logs", "--trace-id", "a b"])
        .run()
        .assert_code(3);
    assert!(invalid.stderr.contains("X-Trace-Id"), "{}", invalid.stderr);
    sandbox
        .cp9(["logs", "--trace-id", ""])
        .run()
        .assert_code(64);

    let following = sandbox.cp9(["logs", "--trace-id", &id, "--follow"]).spawn();
    following.wait_stdout(LIMIT, "the past", |line| line.contains("cluster-worker |"));
    let worker = sandbox.folder().join("logs/raw/cluster-worker.log");
    let more = format!("2026-01-02 15:04:05 INFO later, trace {id}\nno trace\ntrace {id}0\n");
    let mut text = std::fs::read_to_string(&worker).expect("a log");
    text.push_str(&more);
    append(&worker, &more);
    following.wait_stdout(LIMIT, "the new line", |line| line.contains("INFO later"));
    following.interrupt();
    let run = following.wait(LIMIT);
    assert!(!run.stdout.contains("no trace") && !run.stdout.contains(&format!("{id}0")));
    sandbox.destroy();
}

fn append(path: &camino::Utf8Path, text: &str) {
    use std::io::Write as _;
    let mut file = std::fs::File::options()
        .append(true)
        .open(path)
        .expect("a log");
    file.write_all(text.as_bytes()).expect("it is written");
}

#[test]
fn the_keys_are_those_of_the_session_file() {
    let sandbox = prebuilt::quickstart();
    let text = sandbox.read("cp9.yaml");
    sandbox.write("cp9.yaml", &format!("{text}\ntrace: {{keys: [request]}}\n"));
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.folder().join("logs/raw/cluster-api.log");
    append(
        &api,
        "INFO one request=r-1 trace_id=other\nINFO two trace_id=r-1 request=r-2\n",
    );
    let found = wait_until(LIMIT, "the line", || {
        let data = sandbox
            .cp9(["logs", "--trace-id", "r-1", "--json"])
            .run()
            .assert_code(0)
            .data();
        data["lines"]
            .as_array()
            .filter(|lines| !lines.is_empty())
            .cloned()
    });
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0]["text"].as_str().expect("text").contains("one"));
    let bad = sandbox.read("cp9.yaml").replace("[request]", "[]");
    sandbox.write("cp9.yaml", &bad);
    let refused = sandbox.cp9(["up"]).run().assert_code(3);
    assert!(refused.stderr.contains("keys"), "{}", refused.stderr);
    sandbox.destroy();
}
