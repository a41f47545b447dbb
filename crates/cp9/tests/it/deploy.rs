//! `cp9 deploy`: a success is a proof, and every way to an old version has its verdict.

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_testkit::{Run, Sandbox, http_get, wait_until};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::prebuilt;

const LIMIT: Duration = Duration::from_mins(1);
const API: &str = "cluster-api";
const MAIN: &str = "services/cluster-api/src/main.rs";

/// A running quickstart, and where the prebuilt binary of cluster-api lies.
fn running() -> (Sandbox, String) {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let built = build_line(&sandbox)
        .split('"')
        .nth(1)
        .expect("a path")
        .to_owned();
    (sandbox, built)
}

/// The build command of cluster-api as the session file has it.
fn build_line(sandbox: &Sandbox) -> String {
    let text = sandbox.read("cp9.yaml");
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim() != "cluster-api:");
    let line = lines.find(|line| line.trim().starts_with("command:"));
    line.expect("a build command").trim().to_owned()
}

/// Makes cluster-api be built by a shell script; `$1` is the output.
fn build_by(sandbox: &Sandbox, script: &str) {
    let path = sandbox.path("build.sh");
    sandbox.write("build.sh", script);
    let command = format!("command: [sh, \"{path}\", \"${{output}}\"]");
    sandbox.replace("cp9.yaml", &build_line(sandbox), &command);
}

fn product(sandbox: &Sandbox) -> Utf8PathBuf {
    sandbox.folder().join(".cp9-build/cluster-api/live/service")
}

fn deploy(sandbox: &Sandbox) -> Run {
    sandbox.cp9(["deploy", API, "--json"]).run()
}

fn service(sandbox: &Sandbox, name: &str) -> Value {
    let status = sandbox.status();
    let services = status["services"].as_array().expect("services");
    let found = services.iter().find(|service| service["name"] == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {status}"))
        .clone()
}

/// A failed deploy: exit 6, this code, and the pair in the message and in the report.
#[track_caller]
fn assert_verdict(run: Run, code: &str, pair: Option<&str>) -> Value {
    let envelope = run.assert_code(6).json();
    assert_eq!(envelope["error"]["code"], code, "{envelope}");
    assert_eq!(envelope["ok"], false);
    if let Some(pair) = pair {
        let message = envelope["error"]["message"].as_str().expect("a message");
        assert!(message.contains(pair), "{envelope}");
        assert_eq!(
            envelope["data"]["generation"]["differs"], pair,
            "{envelope}"
        );
        assert_eq!(
            envelope["data"]["generation"]["current"], false,
            "{envelope}"
        );
    }
    envelope
}

fn kill(pid: &Value) {
    let pid = pid.as_u64().expect("a pid").to_string();
    let killed = Command::new("kill").args(["-9", &pid]).status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn an_intact_deploy_is_proven_and_told() {
    let (sandbox, _) = running();
    let before = service(&sandbox, API);
    assert_eq!(before["generation"]["current"], true, "{before}");
    let run = deploy(&sandbox).assert_code(0);
    let data = run.data();
    assert_eq!(data["pid"], before["pid"], "the same bytes restart nothing");
    let after = service(&sandbox, API);
    assert_eq!(
        data["generation"], after["generation"],
        "status sees the same"
    );
    assert_eq!(
        after["resources"][0]["runs"], 2,
        "it was built although nothing had changed"
    );
    assert_data_eq!(
        run.snapshot(),
        str![[r#"
{"apiVersion":"cp9.output/v1","command":"deploy","ok":true,"data":{"session":"[SESSION]","service":"cluster-api","kind":"source","steps":[{"name":"controller","status":"kept","seconds":[DURATION]},{"name":"build","status":"done","seconds":[DURATION]},{"name":"run","status":"done","seconds":[DURATION]},{"name":"proof","status":"done","seconds":[DURATION]}],"ready":true,"endpoint":"http://127.0.0.1:[PORT]","pid":[PID],"generation":{"source":"[HASH]","built_from":"[HASH]","binary":"[HASH]","running":"[HASH]","current":true},"seconds":[DURATION]},"error":null,"target":{"owner":"local","session":"[SESSION]","cloud":"local","account":null,"region":null,"host":"process"}}
--- stderr ---
--- exit 0 ---

"#]]
    );

    sandbox.write(MAIN, &format!("{}\n// more\n", sandbox.read(MAIN)));
    let data = deploy(&sandbox).assert_code(0).data();
    assert_eq!(data["generation"]["current"], true);
    assert_ne!(data["generation"]["source"], after["generation"]["source"]);
    let text = sandbox.cp9(["deploy", API]).run().assert_code(0);
    assert!(text.stdout.contains("deployed") && text.stdout.contains("one generation"));
    sandbox.destroy();
}

#[test]
fn a_build_that_writes_nothing_is_no_deploy() {
    let (sandbox, _) = running();
    let before = service(&sandbox, API);
    build_by(&sandbox, "echo fine\n");
    let envelope = assert_verdict(deploy(&sandbox), "source-not-binary", Some("source≠binary"));
    let causes = envelope["error"]["causes"].to_string();
    assert!(causes.contains("did not write"), "{causes}");
    let after = service(&sandbox, API);
    assert_eq!(after["pid"], before["pid"], "the old version answers");
    let text = sandbox.cp9(["status"]).run().assert_code(0).stdout;
    assert!(text.contains("source≠binary"), "{text}");
    sandbox.destroy();
}

#[test]
fn a_build_that_leaves_an_old_file_is_no_deploy() {
    let (sandbox, built) = running();
    let old = sandbox.path("old");
    std::fs::copy(&built, &old).expect("a copy");
    let dated = Command::new("touch")
        .args(["-d", "2026-01-01T00:00:00Z", old.as_str()])
        .status();
    assert!(dated.expect("touch starts").success());
    // Copied with its date, it is not what this build made.
    let command = format!("command: [cp, -p, \"{old}\", \"${{output}}\"]");
    sandbox.replace("cp9.yaml", &build_line(&sandbox), &command);
    deploy(&sandbox).assert_code(0);
    sandbox.write(MAIN, &format!("{}\n// more\n", sandbox.read(MAIN)));
    let run = deploy(&sandbox);
    let envelope = assert_verdict(run, "source-not-binary", Some("source≠binary"));
    let causes = envelope["error"]["causes"].to_string();
    assert!(causes.contains("as it was"), "{causes}");
    // With a new date it looks like a build after a change of a comment, so it is only told.
    let command = format!("command: [cp, \"{old}\", \"${{output}}\"]");
    sandbox.replace("cp9.yaml", &build_line(&sandbox), &command);
    let text = sandbox.cp9(["deploy", API]).run().assert_code(0).stdout;
    assert!(text.contains("the very same binary"), "{text}");
    sandbox.destroy();
}

#[test]
fn a_binary_swapped_behind_the_controllers_back_is_seen() {
    let (sandbox, built) = running();
    let other = sandbox.path("other");
    std::fs::write(&other, "another binary").expect("a file");
    std::fs::rename(&other, product(&sandbox)).expect("a swap");
    let seen = service(&sandbox, API);
    assert_eq!(seen["generation"]["differs"], "binary≠running", "{seen}");
    assert_eq!(seen["ready"], true, "the process goes on");
    let text = sandbox.cp9(["status"]).run().assert_code(0).stdout;
    assert!(text.contains("ready, binary≠running"), "{text}");
    let mended = deploy(&sandbox).assert_code(0).data();
    assert_eq!(mended["generation"]["current"], true);

    // Swapped while it is deployed, before the new version is ready.
    let (next, gate) = (sandbox.path("next"), sandbox.path("gate"));
    std::fs::copy(&built, &next).expect("a copy");
    build_by(&sandbox, &format!("cp {next} $1; chmod 755 $1\n"));
    deploy(&sandbox).assert_code(0);
    let gated =
        format!("#!/bin/sh\nuntil [ -e {gate} ]; do sleep 0.02; done\nexec {built} \"$@\"\n");
    sandbox.write("next", &gated);
    let deploying = sandbox.cp9(["deploy", API, "--json"]).spawn();
    wait_until(LIMIT, "the new binary", || {
        let bytes = std::fs::read(product(&sandbox)).ok()?;
        (bytes == gated.as_bytes()).then_some(())
    });
    std::fs::write(&other, "another binary").expect("a file");
    std::fs::rename(&other, product(&sandbox)).expect("a swap");
    sandbox.write("gate", "");
    let run = deploying.wait(LIMIT);
    assert_verdict(run, "binary-not-running", Some("binary≠running"));
    sandbox.destroy();
}

#[test]
fn a_process_that_executes_something_else_than_recorded_is_seen() {
    let (sandbox, built) = running();
    // The new binary is known beforehand, and the records say that it runs already.
    let new = sandbox.path("new");
    let mut bytes = std::fs::read(&built).expect("a binary");
    bytes.extend_from_slice(b"one more line");
    std::fs::write(&new, bytes).expect("a file");
    let sum = Command::new("sha256sum")
        .arg(&new)
        .output()
        .expect("sha256sum starts");
    let hash = String::from_utf8(sum.stdout).expect("UTF-8")[..64].to_owned();
    build_by(&sandbox, &format!("cp {new} $1; chmod 755 $1\n"));
    kill(&sandbox.status()["controller"]["pid"]);
    let record = sandbox.folder().join("run/cluster-api/child.json");
    let text = std::fs::read_to_string(&record).expect("a record");
    let mut child: Value = serde_json::from_str(&text).expect("JSON");
    child["binary"] = hash.into();
    std::fs::write(&record, child.to_string()).expect("a record");
    let generation = product(&sandbox).with_file_name("generation.json");
    std::fs::remove_file(generation).expect("a record");

    let envelope = assert_verdict(
        deploy(&sandbox),
        "binary-not-running",
        Some("binary≠running"),
    );
    assert_eq!(envelope["data"]["ready"], true, "it looks green");
    sandbox.destroy();
}

#[test]
fn a_version_that_crashes_at_its_start_is_no_deploy() {
    let (sandbox, _) = running();
    let before = service(&sandbox, API);
    build_by(
        &sandbox,
        "printf '#!/bin/sh\\necho no licence >&2; exit 3\\n' > $1; chmod 755 $1\n",
    );
    let run = deploy(&sandbox);
    assert!(
        run.millis < 20_000,
        "the first failure ends the wait: {} ms",
        run.millis
    );
    let envelope = assert_verdict(run, "binary-not-running", Some("binary≠running"));
    let causes = envelope["error"]["causes"].to_string();
    assert!(
        causes.contains("code 3") && causes.contains("no licence"),
        "{causes}"
    );
    let pid = before["pid"].as_u64().expect("a pid");
    assert!(
        !Utf8PathBuf::from(format!("/proc/{pid}")).exists(),
        "the old one is gone"
    );
    let after = service(&sandbox, API);
    assert_eq!(after["ready"], false);
    assert!(
        after["message"].as_str().expect("why").contains("code 3"),
        "{after}"
    );
    sandbox.destroy();
}

#[test]
fn a_compiler_error_is_shown_and_the_old_version_answers() {
    let (sandbox, _) = running();
    build_by(
        &sandbox,
        "echo 'error[E0425]: cannot find value' >&2; exit 1\n",
    );
    let run = sandbox.cp9(["deploy", API]).run().assert_code(6);
    assert!(
        run.stderr.contains("error[E0425]: cannot find value"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("not deployed"), "{}", run.stdout);
    let envelope = assert_verdict(deploy(&sandbox), "build-failed", None);
    assert!(envelope["error"]["causes"].to_string().contains("E0425"));
    let steps = envelope["data"]["steps"].as_array().expect("steps");
    let last = steps.last().expect("a step");
    assert_eq!(
        (last["name"].as_str(), last["status"].as_str()),
        (Some("build"), Some("failed"))
    );
    let api = sandbox.endpoint(API);
    assert_eq!(
        http_get(&format!("{api}/healthz"))
            .expect("an answer")
            .status,
        200
    );
    sandbox.destroy();
}

#[test]
fn a_killed_controller_is_started_again() {
    let (sandbox, _) = running();
    let before = sandbox.status();
    kill(&before["controller"]["pid"]);
    let data = deploy(&sandbox).assert_code(0).data();
    assert_eq!(data["steps"][0]["message"], "restarted", "{data}");
    assert_eq!(data["generation"]["current"], true);
    let after = sandbox.status();
    assert_eq!(after["controller"]["state"], "running");
    assert_ne!(after["controller"]["pid"], before["controller"]["pid"]);
    sandbox.destroy();
}

#[test]
fn sources_that_change_while_they_are_built_are_built_again() {
    let (sandbox, built) = running();
    let (source, once, builds) = (
        sandbox.path(MAIN),
        sandbox.path("once"),
        sandbox.path("builds"),
    );
    build_by(
        &sandbox,
        &format!(
            "echo x >> {builds}\n\
             if [ ! -e {once} ]; then touch {once}; echo '// later' >> {source}; fi\n\
             cp {built} $1\n"
        ),
    );
    let data = deploy(&sandbox).assert_code(0).data();
    assert!(sandbox.read("builds").lines().count() >= 2, "{data}");
    assert!(sandbox.read(MAIN).contains("// later"));
    let generation = &data["generation"];
    assert_eq!(generation["source"], generation["built_from"]);
    assert_eq!(&service(&sandbox, API)["generation"], generation);

    // A build that never stops to change its sources never has a version of them.
    build_by(
        &sandbox,
        &format!("echo '// again' >> {source}; cp {built} $1\n"),
    );
    let run = sandbox
        .cp9(["deploy", API, "--timeout=4s", "--json"])
        .run()
        .assert_code(6);
    assert_eq!(
        run.json()["data"]["generation"]["current"],
        false,
        "{}",
        run.stdout
    );
    sandbox.destroy();
}

#[test]
fn a_deploy_needs_a_session_that_is_ready_and_a_service_that_is_there() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["deploy", API]).run().assert_code(3);
    let fault = "service_plan:before:error";
    sandbox
        .cp9(["up"])
        .env("CP9_FAULT", fault)
        .run()
        .assert_code(1);
    let early = sandbox.cp9(["deploy", API]).run().assert_code(3);
    assert!(early.stderr.contains("service_plan"), "{}", early.stderr);
    sandbox.cp9(["up"]).run().assert_code(0);
    let unknown = sandbox.cp9(["deploy", "nobody"]).run().assert_code(3);
    assert!(
        unknown.stderr.contains("cluster-worker, cluster-api"),
        "{}",
        unknown.stderr
    );
    sandbox.cp9(["deploy"]).run().assert_code(64);
    sandbox.cp9(["pause"]).run().assert_code(0);
    let paused = sandbox.cp9(["deploy", API]).run().assert_code(3);
    assert!(paused.stderr.contains("session_ready"), "{}", paused.stderr);
    sandbox.destroy();
}

#[test]
fn the_lock_is_taken_only_where_it_is_needed() {
    let (sandbox, _) = running();
    let file = File::options()
        .write(true)
        .open(sandbox.folder().join("lock"))
        .expect("a lock");
    file.lock().expect("it is free");
    deploy(&sandbox).assert_code(0);
    sandbox.replace("cp9.yaml", "needs: [cluster-worker]", "needs: []");
    let changed = deploy(&sandbox).assert_code(5);
    assert_eq!(changed.json()["error"]["code"], "session-locked");
    sandbox.replace("cp9.yaml", "needs: []", "needs: [cluster-worker]");
    kill(&sandbox.status()["controller"]["pid"]);
    deploy(&sandbox).assert_code(5);
    drop(file);
    deploy(&sandbox).assert_code(0);
    sandbox.destroy();
}

#[test]
fn a_deploy_ends_at_its_time_limit() {
    let (sandbox, _) = running();
    let (slow, built) = (sandbox.path("slow"), build_line(&sandbox));
    let built = built.split('"').nth(1).expect("a path");
    build_by(
        &sandbox,
        &format!("[ ! -e {slow} ] || exec sleep 1000\ncp {built} $1\n"),
    );
    deploy(&sandbox).assert_code(0);
    sandbox.write("slow", "");
    let run = sandbox.cp9(["deploy", API, "--timeout=2s", "--json"]).run();
    let envelope = assert_verdict(run, "deploy-late", None);
    let message = envelope["error"]["message"].as_str().expect("a message");
    assert!(message.contains("build has not ended"), "{message}");
    let waiting = sandbox.cp9(["deploy", API]).spawn();
    waiting.wait_stderr(LIMIT, "the build", |line| line.contains("building"));
    waiting.interrupt();
    waiting.wait(LIMIT).assert_code(130);
    sandbox.destroy();
}

/// The quickstart with a worker that is run as it is, in place of built.
fn with_live_worker() -> Sandbox {
    let sandbox = prebuilt::quickstart();
    let text = sandbox.read("cp9.yaml");
    let at = text.find("    cluster-worker:\n").expect("the worker");
    let (source, own) = text.split_at(at);
    let built = own.split('"').nth(1).expect("its binary").to_owned();
    let lines: Vec<String> = own
        .lines()
        .filter(|line| !line.contains("repo: ./services/") && !line.contains("command: ["))
        .map(|line| match line {
            "    cluster-worker:" => "  live:\n    cluster-worker:".into(),
            "      build:" => format!(
                "      run:\n        command: [\"{built}\", --config=/etc/cluster-worker/worker.conf]"
            ),
            line => line.into(),
        })
        .collect();
    sandbox.write("cp9.yaml", &format!("{source}{}\n", lines.join("\n")));
    sandbox
}

#[test]
fn a_live_service_takes_its_changed_manifests_over() {
    let sandbox = with_live_worker();
    sandbox.cp9(["up"]).run().assert_code(0);
    let before = service(&sandbox, "cluster-worker");
    assert_eq!(before["generation"]["current"], true, "{before}");
    let config = "app-delivery/envs/quickstart/cluster-worker/configmap.yaml";
    let line = sandbox.read(config);
    let key = line
        .lines()
        .find(|line| line.contains("worker.conf:"))
        .expect("a key")
        .to_owned();
    sandbox.replace(config, &key, &format!("{key}\n    # a comment"));
    let deployed = sandbox
        .cp9(["deploy", "cluster-worker", "--json"])
        .run()
        .assert_code(0)
        .data();
    assert_eq!(deployed["steps"][0]["message"], "plan taken over");
    assert_eq!(
        (&deployed["kind"], &deployed["ready"]),
        (&"live".into(), &true.into())
    );
    assert_ne!(deployed["pid"], before["pid"]);
    let (old, new) = (&before["generation"], &deployed["generation"]);
    assert_ne!(old["running"], new["running"]);
    assert_eq!(
        (&new["source"], &new["binary"]),
        (&new["running"], &Value::Null)
    );
    sandbox.destroy();
}

#[test]
fn a_deploy_that_failed_stands_in_the_way_of_no_other() {
    let sandbox = with_live_worker();
    sandbox.cp9(["up"]).run().assert_code(0);
    let config = "app-delivery/envs/quickstart/cluster-worker/configmap.yaml";
    let good = sandbox.read(config);
    sandbox.write(config, &format!("{good}  bad: [\n"));
    let deploy = || sandbox.cp9(["deploy", "cluster-worker"]).run();
    let broken = deploy().assert_code(3);
    assert!(
        broken.stderr.contains("configmap.yaml"),
        "{}",
        broken.stderr
    );
    let unsettled = sandbox.status()["states"].to_string();
    assert!(unsettled.contains("failed"), "{unsettled}");
    sandbox.cp9(["logs"]).run().assert_code(0);
    sandbox.write(config, &good);
    deploy().assert_code(0);
    let settled = sandbox.status()["states"].to_string();
    assert!(!settled.contains("failed"), "{settled}");
    sandbox.destroy();
}

#[test]
fn a_status_without_a_controller_says_nothing_of_generations() {
    let (sandbox, _) = running();
    kill(&sandbox.status()["controller"]["pid"]);
    let dead = wait_until(LIMIT, "the kill to show", || {
        Some(sandbox.status()).filter(|status| status["controller"]["state"] == "dead")
    });
    assert!(dead["services"][0].get("generation").is_none(), "{dead}");
    sandbox.destroy();
}
