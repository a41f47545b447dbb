//! `cp9 logs`: which lines, past and following.

use std::time::Duration;

use cp9_testkit::{Sandbox, http_get, wait_until};

use crate::prebuilt;

const LIMIT: Duration = Duration::from_mins(1);

fn lines(sandbox: &Sandbox, args: &[&str]) -> Vec<serde_json::Value> {
    let all = [&["logs", "--json=lines"], args].concat();
    let run = sandbox.cp9(all.iter().copied()).run().assert_code(0);
    run.json_lines()
        .into_iter()
        .filter(|line| line.get("text").is_some())
        .collect()
}

#[test]
fn lines_are_chosen_by_service_level_and_age_in_time_order() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    http_get(&format!("{api}/v1beta1/projects/p1/clusters")).expect("an answer");
    let all = wait_until(LIMIT, "the request in the log", || {
        let all = lines(&sandbox, &["--all"]);
        all.iter()
            .any(|line| {
                line["text"]
                    .as_str()
                    .is_some_and(|text| text.contains("/v1beta1/"))
            })
            .then_some(all)
    });
    let times: Vec<jiff::Timestamp> = all
        .iter()
        .map(|line| {
            line["time"]
                .as_str()
                .expect("a time")
                .parse()
                .expect("RFC 3339")
        })
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let worker = lines(&sandbox, &["--service", "cluster-worker"]);
    assert!(
        !worker.is_empty()
            && worker
                .iter()
                .all(|line| line["service"] == "cluster-worker")
    );
    assert_eq!(worker, lines(&sandbox, &["cluster-worker"]));
    let errors = lines(&sandbox, &["--level", "error"]);
    assert!(
        errors.iter().all(|line| line["level"] == "error"),
        "{errors:?}"
    );
    assert!(errors.len() < all.len());
    assert_eq!(lines(&sandbox, &["--since", "1h"]).len(), all.len());
    // A span that reaches before time itself is every line, not a crash.
    assert_eq!(lines(&sandbox, &["--since", "175307616h"]).len(), all.len());
    sandbox
        .cp9(["logs", "--level", "loud"])
        .run()
        .assert_code(64);
    sandbox.destroy();
}

#[test]
fn following_shows_new_lines_and_ends_with_an_interrupt() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    let follow = sandbox.cp9(["logs", "--follow"]).spawn();
    follow.wait_stdout(LIMIT, "the past", |text| text.contains("listens"));
    http_get(&format!("{api}/v1beta1/projects/fresh/clusters")).expect("an answer");
    follow.wait_stdout(LIMIT, "the new line", |text| {
        text.contains("/projects/fresh/")
    });
    follow.interrupt();
    let ended = follow.wait(LIMIT);
    assert!(matches!(ended.code, Some(0 | 130)), "{}", ended.snapshot());
    sandbox.destroy();
}

#[test]
fn a_session_that_was_paused_before_it_was_ready_has_no_logs() {
    let sandbox = prebuilt::quickstart();
    sandbox
        .cp9(["up"])
        .env("CP9_FAULT", "service_plan:before:error")
        .run()
        .assert_code(1);
    sandbox.cp9(["pause"]).run().assert_code(0);
    let run = sandbox.cp9(["logs"]).run().assert_code(3);
    assert!(run.stderr.contains("service_plan"), "{}", run.stderr);
    sandbox.destroy();
    sandbox.cp9(["up"]).run().assert_code(0);
    sandbox.cp9(["pause"]).run().assert_code(0);
    assert!(
        !lines(&sandbox, &["--all"]).is_empty(),
        "what was ready once may be read while it is paused"
    );
    sandbox.destroy();
}
