//! Edits of a running session: live without a command, red without harm, and what a killed controller
//! leaves.

use std::time::Duration;

use cp9_testkit::{Sandbox, http_get, wait_until};

use crate::prebuilt::{self, CP9};

const MAIN: &str = "services/cluster-api/src/main.rs";
const LIMIT: Duration = Duration::from_mins(1);

fn health(url: &str) -> Option<String> {
    http_get(&format!("{url}/healthz"))
        .ok()
        .map(|reply| reply.text())
}

#[test]
fn an_edit_is_live_and_a_compile_error_leaves_the_old_version_answering() {
    let sandbox = Sandbox::quickstart(CP9);
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    let old = health(&api).expect("it answers");
    assert!(old.contains("ok"), "{old}");
    let source = sandbox.read(MAIN);
    let edited = source.replacen("\"ok\"", "\"edited\"", 1);
    assert_ne!(
        source, edited,
        "the quickstart's health answer holds the word that is edited here"
    );
    sandbox.write(MAIN, &edited);
    wait_until(LIMIT, "the edit to be live", || {
        health(&api).filter(|text| text.contains("edited"))
    });

    sandbox.write(MAIN, &format!("{edited}\nthis is no rust\n"));
    let red = wait_until(LIMIT, "the compile error to show", || {
        let status = sandbox.status();
        let services = status["services"].as_array()?.clone();
        services
            .into_iter()
            .find(|service| service["name"] == "cluster-api" && service["message"].is_string())
    });
    assert_eq!(red["ready"], false);
    let message = red["message"].as_str().expect("the compiler's message");
    assert!(message.contains("error"), "{message}");
    assert!(
        health(&api)
            .expect("the old version answers")
            .contains("edited")
    );
    let up = sandbox.cp9(["up"]).run().assert_code(6);
    assert!(up.stderr.contains("cluster-api"), "{}", up.stderr);

    sandbox.write(MAIN, &source);
    sandbox.cp9(["status", "--wait=60s"]).run().assert_code(0);
    wait_until(LIMIT, "the mended version to be live", || {
        health(&api).filter(|text| text.contains("\"ok\""))
    });
    sandbox.destroy();
}

#[test]
fn a_killed_controller_loses_nothing() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    let before = sandbox.status();
    kill(&before["controller"]["pid"]);
    let dead = wait_until(LIMIT, "the kill to show", || {
        Some(sandbox.status()).filter(|status| status["controller"]["state"] == "dead")
    });
    assert!(
        dead["controller"]["hint"]
            .as_str()
            .expect("a hint")
            .contains("cp9 up")
    );
    assert!(health(&api).is_some(), "the services live on");
    sandbox.cp9(["up"]).run().assert_code(0);
    let after = sandbox.status();
    assert_eq!(after["controller"]["state"], "running");
    for (old, new) in before["services"]
        .as_array()
        .expect("services")
        .iter()
        .zip(after["services"].as_array().expect("services"))
    {
        assert_eq!(old["pid"], new["pid"], "adopted, not restarted");
    }
    kill(&after["controller"]["pid"]);
    sandbox.destroy();
}

fn kill(pid: &serde_json::Value) {
    let pid = pid.as_u64().expect("a pid").to_string();
    let killed = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status()
        .expect("kill starts");
    assert!(killed.success());
}

#[test]
fn a_service_whose_record_was_lost_is_replaced_at_its_port() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let (api, before) = (sandbox.endpoint("cluster-api"), sandbox.status());
    kill(&before["controller"]["pid"]);
    std::fs::remove_file(sandbox.folder().join("run/cluster-api/child.json")).expect("lost");
    sandbox.cp9(["up"]).run().assert_code(0);
    assert_eq!(sandbox.endpoint("cluster-api"), api);
    assert!(health(&api).is_some(), "it answers there");
    let pids = |status: &serde_json::Value| -> Vec<serde_json::Value> {
        let services = status["services"].as_array().expect("services");
        services
            .iter()
            .map(|service| service["pid"].clone())
            .collect()
    };
    let (old, new) = (pids(&before), pids(&sandbox.status()));
    let changed = old.iter().filter(|pid| !new.contains(pid)).count();
    assert_eq!(
        changed, 1,
        "only the lost one was replaced: {old:?} {new:?}"
    );
    sandbox.destroy();
}

#[test]
fn pause_frees_ports_and_up_brings_the_same_back() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    let paused = sandbox.cp9(["pause", "--json"]).run().assert_code(0);
    assert_eq!(paused.data()["stopped"], 5);
    assert_eq!(paused.data()["released"].as_array().map(Vec::len), Some(5));
    assert_eq!(sandbox.leftovers(), []);
    assert_eq!(sandbox.status()["controller"]["state"], "stopped");
    sandbox.cp9(["pause"]).run().assert_code(0);
    sandbox.cp9(["up"]).run().assert_code(0);
    assert_eq!(sandbox.endpoint("cluster-api"), api);
    assert!(health(&api).is_some());
    sandbox.destroy();
}

#[test]
fn a_changed_manifest_restarts_only_its_service() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let before = sandbox.status();
    let config = "app-delivery/envs/quickstart/cluster-worker/configmap.yaml";
    let text = sandbox.read(config);
    let key = text
        .lines()
        .find(|line| line.trim_start().starts_with("worker.conf:"))
        .expect("the file's key")
        .to_owned();
    let indent = " ".repeat(key.len() - key.trim_start().len() + 2);
    sandbox.write(
        config,
        &text.replacen(&key, &format!("{key}\n{indent}# a comment"), 1),
    );
    sandbox.cp9(["up"]).run().assert_code(0);
    let after = sandbox.status();
    let pid = |status: &serde_json::Value, name: &str| {
        let services = status["services"].as_array().expect("services").clone();
        services
            .iter()
            .find(|service| service["name"] == name)
            .expect("the service")["pid"]
            .clone()
    };
    assert_eq!(pid(&before, "cluster-api"), pid(&after, "cluster-api"));
    assert_ne!(
        pid(&before, "cluster-worker"),
        pid(&after, "cluster-worker"),
        "its file changed"
    );
    sandbox.destroy();
}

#[test]
fn logs_show_builds_and_runs_and_wait_for_a_ready_session() {
    let sandbox = prebuilt::quickstart();
    let stopped = sandbox
        .cp9(["up"])
        .env("CP9_FAULT", "service_plan:before:error")
        .run()
        .assert_code(1);
    assert!(
        stopped.stderr.contains("service_plan"),
        "{}",
        stopped.stderr
    );
    let early = sandbox.cp9(["logs"]).run().assert_code(3);
    assert!(early.stderr.contains("service_plan"), "{}", early.stderr);
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    http_get(&format!("{api}/v1beta1/projects/p1/clusters")).expect("an answer");
    let lines = wait_until(LIMIT, "the request to be logged", || {
        let run = sandbox
            .cp9(["logs", "cluster-api", "--json=lines"])
            .run()
            .assert_code(0);
        let lines = run.json_lines();
        lines
            .iter()
            .any(|line| line.to_string().contains("/v1beta1/projects/p1/clusters"))
            .then_some(lines)
    });
    assert!(lines.iter().all(|line| {
        line.get("service")
            .is_none_or(|service| service == "cluster-api")
    }));
    let unknown = sandbox.cp9(["logs", "nobody"]).run().assert_code(3);
    assert!(
        unknown.stderr.contains("cluster-worker"),
        "{}",
        unknown.stderr
    );
    sandbox.destroy();
}

#[test]
fn ten_rounds_of_up_and_pause_leave_nothing_behind() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let endpoint = sandbox.endpoint("cluster-api");
    let host = sandbox.read(&format!(".cp9/{}/host.json", sandbox.session()));
    for round in 0..10 {
        sandbox.cp9(["pause"]).run().assert_code(0);
        assert_eq!(sandbox.leftovers(), [], "after pause {round}");
        sandbox.cp9(["up"]).run().assert_code(0);
        assert_eq!(
            sandbox.endpoint("cluster-api"),
            endpoint,
            "after up {round}"
        );
        assert!(health(&endpoint).is_some(), "after up {round}");
    }
    assert_eq!(
        sandbox.read(&format!(".cp9/{}/host.json", sandbox.session())),
        host,
        "the same ports, all of them"
    );
    sandbox.destroy();
}
