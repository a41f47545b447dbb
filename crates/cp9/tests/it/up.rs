//! `cp9 up`: ready services, what is kept, what is refused.

use std::time::Duration;

use cp9_testkit::{Sandbox, http_get, http_post, wait_until};

use crate::prebuilt::{self, CP9};

#[test]
fn the_quickstart_answers_through_every_service_as_it_stands() {
    let _name = prebuilt::own_name();
    let sandbox = Sandbox::quickstart_as_is(CP9);
    let config = "cp9.quickstart.example.yaml";
    let run = sandbox
        .cp9(["up", "--config", config, "--json"])
        .run()
        .assert_code(0);
    let data = run.data();
    let services = data["services"].as_array().expect("services");
    assert_eq!(services.len(), 5, "two from source, three stubs");
    assert!(
        services.iter().all(|service| service["ready"] == true),
        "{services:?}"
    );
    let envelope = run.json();
    assert_eq!(
        envelope["target"]["owner"], "local",
        "no CP9_OWNER, no git identity"
    );
    let api = sandbox.endpoint("cluster-api");
    let reply = http_post(
        &format!("{api}/v1beta1/projects/p1/clusters"),
        r#"{"name":"one"}"#,
    )
    .expect("an answer");
    assert_eq!(reply.status, 201, "{}", reply.text());
    let trace_id = reply.header("X-Trace-Id").expect("a trace id").to_owned();
    for file in ["metering/payloads.jsonl", "billing-svc/invoices.jsonl"] {
        let text = sandbox.read(&format!(".cp9/quickstart/stubs/{file}"));
        let call: serde_json::Value = serde_json::from_str(text.trim()).expect("one JSON line");
        assert_eq!(call["trace_id"], trace_id, "{file}");
        assert_eq!(call["body"]["account"], "p1", "{file}");
    }
    let listed = http_get(&format!("{api}/v1beta1/projects/p1/clusters")).expect("an answer");
    assert!(listed.text().contains("\"one\""), "{}", listed.text());
    sandbox
        .cp9(["destroy", "--config", config])
        .run()
        .assert_code(0);
    sandbox.assert_nothing_left();
}

#[test]
fn a_ready_session_is_kept_as_it_is() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let before = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    let pids = pids(&sandbox);
    let again = sandbox.cp9(["up", "--json"]).run().assert_code(0);
    for state in again.data()["states"].as_array().expect("states") {
        assert_eq!(state["status"], "kept", "{state}");
    }
    let after = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    assert_eq!(before, after, "the journal is not rewritten");
    assert_eq!(pids, self::pids(&sandbox), "no service was restarted");
    sandbox.destroy();
}

fn pids(sandbox: &Sandbox) -> Vec<u64> {
    let status = sandbox.status();
    status["services"]
        .as_array()
        .expect("services")
        .iter()
        .filter_map(|service| service["pid"].as_u64())
        .collect()
}

#[test]
fn a_second_up_is_refused_with_the_holder_and_changes_nothing() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    // A build that waits for a file keeps the first run in its last state for as long as the test wants.
    let gate = sandbox.path("gate");
    let slow = format!(
        "command: [sh, -c, \"while [ ! -e {gate} ]; do sleep 0.05; done; cp $(ls {}/*/live/service | head -1) ${{output}}\"]",
        sandbox.folder().join(".cp9-build")
    );
    let line = sandbox
        .read("cp9.yaml")
        .lines()
        .find(|line| line.contains("command:"))
        .expect("a build")
        .to_owned();
    sandbox.replace("cp9.yaml", line.trim(), &slow);
    let first = sandbox.cp9(["up"]).spawn();
    wait_until(
        Duration::from_secs(20),
        "the first run to wait for its build",
        || {
            let state = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
            let state: serde_json::Value = serde_json::from_str(&state).ok()?;
            (state["states"]["session_ready"]["status"] == "running").then_some(())
        },
    );
    let before = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    let second = sandbox.cp9(["up", "--json"]).run().assert_code(5);
    assert!(second.millis < 2000, "{} ms", second.millis);
    let error = &second.json()["error"];
    assert_eq!(error["code"], "session-locked");
    assert!(
        error["message"]
            .as_str()
            .expect("text")
            .contains(&format!("process {}", first.pid())),
        "{error}"
    );
    assert!(
        error["hints"][0]
            .as_str()
            .expect("a hint")
            .contains(&first.pid().to_string()),
        "{error}"
    );
    assert_eq!(
        before,
        sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()))
    );
    sandbox.cp9(["destroy"]).run().assert_code(5);
    sandbox.write("gate", "");
    first.wait(Duration::from_secs(30)).assert_code(0);
    sandbox.destroy();
}

#[test]
fn the_same_name_from_another_folder_is_refused_and_harms_nobody() {
    let mut one = prebuilt::quickstart();
    let mut two = prebuilt::quickstart();
    // Two folders of one user share the registry of sessions.
    let home = one.root().join("home").to_string();
    one.set_env("HOME", &home);
    two.set_env("HOME", &home);
    one.cp9(["up"]).run().assert_code(0);
    let own = two.session().to_owned();
    two.replace(
        "cp9.yaml",
        &format!("\nname: {own}\n"),
        &format!("\nname: {}\n", one.session()),
    );
    let refused = two.cp9(["up"]).run().assert_code(3);
    assert!(
        refused.stderr.contains(one.folder().as_str()),
        "{}",
        refused.stderr
    );
    assert!(
        !two.path(".cp9").exists(),
        "a refused session creates nothing"
    );
    two.cp9(["destroy"]).run().assert_code(3);
    let api = one.endpoint("cluster-api");
    assert_eq!(
        http_get(&format!("{api}/healthz"))
            .expect("still answers")
            .status,
        200
    );
    two.replace(
        "cp9.yaml",
        &format!("\nname: {}\n", one.session()),
        &format!("\nname: {own}\n"),
    );
    two.cp9(["up"]).run().assert_code(0);
    assert_ne!(api, two.endpoint("cluster-api"));
    two.destroy();
    assert_eq!(
        http_get(&format!("{api}/healthz"))
            .expect("untouched by the neighbour")
            .status,
        200
    );
    one.destroy();
}

#[test]
fn a_live_session_cannot_be_renamed() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up", "--no-tilt"]).run().assert_code(0);
    let name = sandbox.session().to_owned();
    sandbox.replace(
        "cp9.yaml",
        &format!("\nname: {name}\n"),
        "\nname: other-name\n",
    );
    let run = sandbox.cp9(["up"]).run().assert_code(3);
    assert!(
        run.stderr.contains(&name) && run.stderr.contains("other-name"),
        "{}",
        run.stderr
    );
    sandbox.destroy();
}

#[test]
fn without_a_controller_the_command_that_starts_it_is_printed() {
    let sandbox = prebuilt::quickstart();
    let run = sandbox
        .cp9(["up", "--no-tilt", "--json"])
        .run()
        .assert_code(0);
    let handoff = run.data()["handoff"]
        .as_str()
        .expect("a command")
        .to_owned();
    assert!(
        handoff.ends_with(&format!("controller serve --folder {}", sandbox.folder())),
        "{handoff}"
    );
    assert!(sandbox.folder().join("tilt/dev-plan.json").exists());
    assert_eq!(sandbox.status()["controller"]["state"], "stopped");
    assert_eq!(sandbox.leftovers(), []);
    // The full run that follows starts it.
    sandbox.cp9(["up"]).run().assert_code(0);
    assert_eq!(sandbox.status()["controller"]["state"], "running");
    sandbox.destroy();
}

#[test]
fn a_folder_with_a_long_path_works() {
    let long = Sandbox::with_long_path(CP9, 200);
    let short = prebuilt::quickstart();
    for entry in walk(&short) {
        let target = long.path(&entry);
        std::fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
        std::fs::copy(short.path(&entry), target).expect("a copy");
    }
    long.replace(
        "cp9.yaml",
        &format!("\nname: {}\n", short.session()),
        &format!("\nname: {}\n", long.session()),
    );
    long.cp9(["up"]).run().assert_code(0);
    let api = long.endpoint("cluster-api");
    assert_eq!(
        http_get(&format!("{api}/healthz"))
            .expect("an answer")
            .status,
        200
    );
    long.destroy();
}

fn walk(sandbox: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(dir) = waiting.pop() {
        for entry in sandbox.path(&dir).read_dir_utf8().expect("a folder") {
            let entry = entry.expect("an entry");
            let path = if dir.is_empty() {
                entry.file_name().to_owned()
            } else {
                format!("{dir}/{}", entry.file_name())
            };
            if entry.file_type().expect("a type").is_dir() {
                waiting.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}
