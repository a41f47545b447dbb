//! `cp9 doctor`: each way a session goes wrong has its id, its severity and its exit code.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use camino::Utf8Path;
use cp9_testkit::{Run, Sandbox};
use serde_json::Value;

use crate::prebuilt::{self, CP9};

fn doctor(sandbox: &Sandbox) -> Run {
    sandbox.cp9(["doctor", "--json"]).run()
}

fn findings(run: &Run) -> Vec<Value> {
    let findings = run.data()["findings"].take();
    findings.as_array().expect("findings").clone()
}

/// The findings of an id.
fn found(run: &Run, id: &str) -> Vec<Value> {
    let mut findings = findings(run);
    findings.retain(|finding| finding["id"] == id);
    findings
}

/// Asserts severity of the first finding of an id, and how the command ended.
#[track_caller]
fn assert_found(run: &Run, id: &str, severity: &str, code: i32) -> Value {
    let found = found(run, id);
    let first = found.first();
    let first = first.unwrap_or_else(|| panic!("no `{id}` in {}", run.stdout));
    assert_eq!(first["severity"], severity, "{first}");
    assert_eq!(run.code, Some(code), "{}{}", run.stdout, run.stderr);
    let remedy = first["remedy"].as_str();
    assert!(severity == "ok" || remedy.is_some(), "no remedy: {first}");
    first.clone()
}

/// The findings of a severity, as `id: text`.
fn bad(run: &Run, severity: &str) -> Vec<String> {
    let mut findings = findings(run);
    findings.retain(|finding| finding["severity"] == severity);
    findings
        .iter()
        .map(|finding| format!("{}: {}", finding["id"], finding["finding"]))
        .collect()
}

/// What the machine that runs the tests lacks is not for the tests to judge.
fn without_machine(mut found: Vec<String>) -> Vec<String> {
    found.retain(|line| {
        ["disk", "memory", "watch", "open-files", "tool-version"]
            .iter()
            .all(|word| !line.starts_with(&format!("\"{word}")))
    });
    found
}

/// Every file below a folder with size and time, but for logs, which grow while a session runs.
fn files(dir: &Utf8Path, found: &mut BTreeMap<String, (u64, SystemTime)>) {
    for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
        let facts = entry.path().symlink_metadata().expect("facts");
        if facts.is_dir() && entry.file_name() != "logs" {
            files(entry.path(), found);
        } else if facts.is_file() {
            let time = facts.modified().expect("a time");
            found.insert(entry.path().to_string(), (facts.len(), time));
        }
    }
}

#[test]
fn without_a_session_it_checks_the_machine_and_creates_nothing() {
    let sandbox = Sandbox::new(CP9);
    let run = doctor(&sandbox);
    let none = assert_found(&run, "session-file-none", "ok", 0);
    assert_eq!(none["shown"], true);
    assert_eq!(run.json()["error"], Value::Null);
    let skipped = run.data()["skipped"].take();
    let skipped: Vec<&str> = skipped
        .as_array()
        .expect("skipped checks")
        .iter()
        .filter_map(|skipped| skipped["check"].as_str())
        .collect();
    for check in ["controller", "ports", "clock", "tags", "journal"] {
        assert!(skipped.contains(&check), "{skipped:?}");
    }
    let mut left = BTreeMap::new();
    files(sandbox.root(), &mut left);
    assert_eq!(left, BTreeMap::new());

    let text = sandbox.cp9(["doctor"]).run().assert_code(0);
    assert!(
        text.stdout.starts_with("no session here\n"),
        "{}",
        text.stdout
    );
    let last = text.stdout.lines().last().expect("a last line");
    assert!(last.contains(" checks ok, "), "{last}");
    assert_eq!(text.stderr, "");
}

#[test]
fn programs_that_no_session_asks_for_may_be_missing() {
    let sandbox = Sandbox::new(CP9);
    let empty = sandbox.root().join("bin");
    let run = sandbox
        .cp9(["doctor", "--json"])
        .env("PATH", empty.as_str())
        .run();
    assert_found(&run, "tool-absent", "ok", 0);
    assert_eq!(found(&run, "tool-absent").len(), 4);

    let quickstart = Sandbox::quickstart(CP9);
    let empty = quickstart.root().join("bin");
    let run = quickstart
        .cp9(["doctor", "--json"])
        .env("PATH", empty.as_str())
        .run();
    let missing = assert_found(&run, "tool-missing", "error", 3);
    assert_eq!(missing["subject"], "rustc");
    assert_eq!(run.json()["error"]["code"], "doctor-errors");
}

#[test]
fn a_healthy_session_is_well_and_left_alone() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let mut before = BTreeMap::new();
    files(sandbox.root(), &mut before);
    let run = doctor(&sandbox);
    let mut after = BTreeMap::new();
    files(sandbox.root(), &mut after);

    assert_eq!(without_machine(bad(&run, "error")), Vec::<String>::new());
    assert_eq!(without_machine(bad(&run, "warning")), Vec::<String>::new());
    for id in [
        "session-file",
        "journal",
        "controller-running",
        "ports",
        "orphans-none",
        "name-registered",
        "permissions-private",
        "leftovers-none",
    ] {
        assert_found(&run, id, "ok", 0);
    }
    let data = run.data();
    assert_eq!(data["session"], sandbox.session());
    assert_eq!(data["folder"], sandbox.folder().as_str());
    assert_eq!(run.json()["target"]["session"], sandbox.session());

    let last_active = sandbox.folder().join("last-active").into_string();
    let used = |files: &BTreeMap<String, (u64, SystemTime)>| files[&last_active].1;
    assert!(used(&after) > used(&before), "the session was used");
    before.remove(&last_active);
    after.remove(&last_active);
    assert_eq!(before, after);
    sandbox.destroy();
}

#[test]
fn a_change_of_the_session_file_is_shown_until_the_next_up() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up", "no-tilt=true"]).run().assert_code(0);
    assert_found(&doctor(&sandbox), "session-file", "ok", 0);
    sandbox.replace("cp9.yaml", "mode: process", "mode: process\n  ttl: 8h");
    assert_found(&doctor(&sandbox), "config-changed", "ok", 0);
    sandbox.replace(
        "cp9.yaml",
        &format!("\nname: {}\n", sandbox.session()),
        "\nname: other-name\n",
    );
    let run = doctor(&sandbox);
    assert_found(&run, "session-renamed", "error", 3);
}

#[test]
fn a_missing_secret_file_is_a_warning_and_a_wrong_one_an_error() {
    let sandbox = Sandbox::quickstart(CP9);
    sandbox.replace("cp9.yaml", "./secrets/cluster-worker.env", "./.env.dev");
    let run = doctor(&sandbox);
    let missing = assert_found(&run, "secret-file-missing", "warning", 0);
    assert_eq!(missing["subject"], "cluster-worker");

    sandbox.write(".env.dev", "TOKEN=hunter2-is-secret\nthis is no line\n");
    let run = doctor(&sandbox);
    let wrong = assert_found(&run, "secret-file-invalid", "error", 3);
    let place = wrong["subject"].as_str().expect("a place");
    assert!(place.contains(".env.dev:2:"), "{place}");
    sandbox.write(".env.dev", "TOKEN=hunter2-is-secret\n");
    let run = doctor(&sandbox);
    assert_found(&run, "secret-file", "ok", 0);
    assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
}

#[test]
fn stubs_without_a_contract_are_warnings() {
    let sandbox = Sandbox::quickstart(CP9);
    assert_eq!(found(&doctor(&sandbox), "stub").len(), 3);
    let contract = "./contracts/account-svc.yaml";
    sandbox.replace("cp9.yaml", contract, "./contracts/gone.yaml");
    let missing = assert_found(&doctor(&sandbox), "stub-definition-missing", "warning", 0);
    assert_eq!(missing["subject"], "account-svc");
    let line = "swagger: ./contracts/gone.yaml";
    sandbox.replace("cp9.yaml", line, "kind: permissive");
    let permissive = assert_found(&doctor(&sandbox), "stub-permissive", "warning", 0);
    assert_eq!(permissive["subject"], "account-svc");
}

#[test]
fn overrides_are_shown_before_and_after_they_are_in_force() {
    let sandbox = prebuilt::quickstart();
    let repo = "      repo: ./services/cluster-worker\n";
    let with = format!("{repo}      overrides: [./more.yaml]\n");
    sandbox.replace("cp9.yaml", repo, &with);
    sandbox.write(
        "more.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cluster-worker}\n\
         spec: {template: {spec: {containers: [{name: cluster-worker, env: [{name: MORE, value: x}]}]}}}\n",
    );
    let declared = assert_found(&doctor(&sandbox), "override-declared", "ok", 0);
    assert_eq!(declared["shown"], true);
    sandbox.cp9(["up", "no-tilt=true"]).run().assert_code(0);
    let run = doctor(&sandbox);
    let in_force = assert_found(&run, "override", "ok", 0);
    let text = in_force["finding"].as_str().expect("a text");
    for part in ["`cluster-worker`", "more.yaml", "Deployment/cluster-worker"] {
        assert!(text.contains(part), "{text}");
    }
    let text = sandbox.cp9(["doctor"]).run().assert_code(0);
    assert!(
        text.stdout.contains("to know\n  override: "),
        "{}",
        text.stdout
    );
}

#[test]
fn a_killed_controller_is_an_error_until_the_next_up() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let pid = sandbox.status()["controller"]["pid"].as_i64();
    kill(&sandbox, pid.expect("a pid"));
    let run = doctor(&sandbox);
    let dead = assert_found(&run, "controller-dead", "error", 3);
    assert!(
        dead["remedy"]
            .as_str()
            .is_some_and(|text| text.contains("cp9 up"))
    );
    let alone = assert_found(&run, "children-unsupervised", "warning", 3);
    let text = alone["finding"].as_str().expect("a text");
    assert!(
        text.contains("`cluster-api`") && text.contains("`cluster-worker`"),
        "{text}"
    );
    assert_eq!(found(&run, "port-taken"), Vec::<Value>::new());
    assert_eq!(found(&run, "orphan-process"), Vec::<Value>::new());

    let text = sandbox.cp9(["doctor"]).run().assert_code(3);
    assert!(
        text.stdout.contains("errors\n  controller-dead: "),
        "{}",
        text.stdout
    );
    assert!(
        text.stderr.contains("error: 1 error found"),
        "{}",
        text.stderr
    );

    sandbox.cp9(["up"]).run().assert_code(0);
    assert_found(&doctor(&sandbox), "controller-running", "ok", 0);
    sandbox.destroy();
}

/// Kills a controller, and waits until the system has taken it apart with all its threads.
fn kill(sandbox: &Sandbox, pid: i64) {
    let status = std::process::Command::new("kill")
        .args(["-KILL".to_owned(), pid.to_string()])
        .status();
    assert!(status.expect("kill starts").success());
    cp9_testkit::wait_until(Duration::from_secs(10), "the controller is dead", || {
        (sandbox.status()["controller"]["state"] == "dead").then_some(())
    });
}

#[test]
fn a_paused_session_is_well_and_a_port_that_was_taken_meanwhile_is_told() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let run = sandbox.cp9(["pause", "--json"]).run().assert_code(0);
    let port = run.data()["released"][0].as_u64().expect("a port");
    let port = u16::try_from(port).expect("a port");
    let run = doctor(&sandbox);
    assert_found(&run, "controller-stopped", "ok", 0);
    assert_found(&run, "ports", "ok", 0);
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    let taken = assert_found(&doctor(&sandbox), "port-taken", "warning", 0);
    assert_eq!(taken["subject"], port.to_string());
    drop(listener);
    sandbox.destroy();
}

#[test]
fn stale_entries_of_the_registry_are_warnings_and_a_taken_name_an_error() {
    let sandbox = Sandbox::quickstart(CP9);
    let registry = sandbox.root().join("home/.local/state/cp9/sessions");
    std::fs::create_dir_all(&registry).expect("a folder");
    let entry = |name: &str, folder: &str, id: &str| {
        let text = format!(r#"{{"name":"{name}","folder":"{folder}","id":"{id}","ports":[]}}"#);
        std::fs::write(registry.join(format!("{name}.json")), text).expect("an entry");
    };
    entry("long-gone", "/nowhere/.cp9/long-gone", "1");
    let run = doctor(&sandbox);
    let stale = assert_found(&run, "registry-stale", "warning", 0);
    assert_eq!(stale["subject"], "long-gone");
    let remedy = stale["remedy"].as_str().expect("a remedy");
    assert!(remedy.contains("long-gone.json"), "{remedy}");

    // The same name runs from another folder.
    sandbox.cp9(["up", "no-tilt=true"]).run().assert_code(0);
    let elsewhere = sandbox.root().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    std::fs::copy(sandbox.path("cp9.yaml"), elsewhere.join("cp9.yaml")).expect("a copy");
    let run = sandbox.cp9(["doctor", "--json"]).cwd(elsewhere).run();
    let taken = assert_found(&run, "name-taken", "error", 3);
    let text = taken["finding"].as_str().expect("a text");
    assert!(text.contains(sandbox.folder().as_str()), "{text}");

    // Another session took the place of an entry.
    entry(sandbox.session(), sandbox.folder().as_str(), "not its id");
    let run = doctor(&sandbox);
    assert_found(&run, "registry-stale", "warning", 0);
    assert_found(&run, "name-unregistered", "warning", 0);
}

#[test]
fn a_broken_session_file_is_the_finding_with_a_session_and_without_one() {
    let sandbox = prebuilt::quickstart();
    let right = sandbox.read("cp9.yaml");
    sandbox.write("cp9.yaml", "name: [\n");
    let run = doctor(&sandbox);
    let invalid = assert_found(&run, "config-invalid", "error", 3);
    let place = invalid["subject"].as_str().expect("a place");
    assert!(place.contains("cp9.yaml:"), "{place}");
    assert!(!sandbox.path(".cp9").exists());

    sandbox.write("cp9.yaml", &right);
    sandbox.cp9(["up"]).run().assert_code(0);
    sandbox.replace("cp9.yaml", "\nservices:", "\nservces:");
    let run = doctor(&sandbox);
    assert_found(&run, "config-invalid", "error", 3);
    assert_found(&run, "controller-running", "ok", 3);
    sandbox.destroy();
}

#[test]
fn a_lost_session_file_and_a_broken_journal_are_told() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up", "no-tilt=true"]).run().assert_code(0);
    let away = sandbox.path("away.yaml");
    std::fs::rename(sandbox.path("cp9.yaml"), &away).expect("moved");
    let run = doctor(&sandbox);
    assert_found(&run, "session-file-missing", "error", 3);
    std::fs::rename(&away, sandbox.path("cp9.yaml")).expect("moved back");

    let journal = format!(".cp9/{}/state.json", sandbox.session());
    let right = sandbox.read(&journal);
    for broken in ["", "[]", "{\"format\": 999}"] {
        sandbox.write(&journal, broken);
        assert_found(&doctor(&sandbox), "journal-unreadable", "error", 3);
    }
    sandbox.write(&journal, &right);
    assert_found(&doctor(&sandbox), "journal", "ok", 0);
}

#[test]
fn sessions_and_files_that_were_named_must_be_there() {
    let sandbox = Sandbox::quickstart(CP9);
    for args in [["--session", "never-was"], ["--config", "gone.yaml"]] {
        let run = sandbox
            .cp9(["doctor", "--json", args[0], args[1]])
            .run()
            .assert_code(3);
        assert_eq!(run.json()["data"], Value::Null);
        assert!(run.json()["error"]["code"].is_string());
    }
}

#[test]
fn a_process_that_nobody_looks_after_is_found() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let state = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    let state: Value = serde_json::from_str(&state).expect("the journal");
    let started = std::process::Command::new("setsid")
        .args(["--fork", "sleep", "600"])
        .env("CP9_SESSION", sandbox.session())
        .env("CP9_SESSION_OWNER", "local")
        .env("CP9_SESSION_ID", state["id"].as_str().expect("an id"))
        .current_dir("/")
        .status();
    assert!(started.expect("setsid starts").success());
    let run = doctor(&sandbox);
    let orphan = assert_found(&run, "orphan-process", "warning", 0);
    let text = orphan["finding"].as_str().expect("a text");
    assert!(text.contains("`sleep`"), "{text}");
    sandbox.destroy();
}

#[test]
fn permissions_and_leftovers_are_looked_at() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up", "no-tilt=true"]).run().assert_code(0);
    let chmod = |path: &Utf8Path, mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, mode).expect("a mode");
    };
    chmod(&sandbox.folder(), 0o755);
    let open = assert_found(&doctor(&sandbox), "folder-exposed", "warning", 0);
    assert_eq!(open["subject"], sandbox.folder().as_str());
    chmod(&sandbox.folder(), 0o700);

    let secret = sandbox.folder().join("secrets/cluster-worker.env");
    chmod(&secret, 0o644);
    assert_found(&doctor(&sandbox), "secret-exposed", "error", 3);
    chmod(&secret, 0o600);
    std::fs::remove_file(&secret).expect("removed");
    assert_found(&doctor(&sandbox), "secret-key-missing", "warning", 0);

    let left = sandbox.path(".cp9/.destroyed/.old.removing/run");
    std::fs::create_dir_all(&left).expect("a folder");
    let leftover = assert_found(&doctor(&sandbox), "destroy-leftover", "warning", 0);
    assert!(
        leftover["remedy"]
            .as_str()
            .is_some_and(|text| text.contains("--session old"))
    );
}

#[test]
fn an_expired_session_is_told_once_as_looking_uses_it() {
    let sandbox = prebuilt::quickstart();
    sandbox.replace("cp9.yaml", "mode: process", "mode: process\n  ttl: 1h");
    sandbox.cp9(["up", "no-tilt=true"]).run().assert_code(0);
    let used = std::fs::File::options()
        .append(true)
        .open(sandbox.folder().join("last-active"));
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365);
    used.and_then(|file| file.set_modified(long_ago))
        .expect("a time");
    assert_found(&doctor(&sandbox), "ttl-expired", "warning", 0);
    assert_found(&doctor(&sandbox), "ttl", "ok", 0);
}

#[test]
fn a_checkout_that_is_not_at_its_ref_is_a_warning_and_git_writes_nothing() {
    let sandbox = Sandbox::quickstart(CP9);
    let repo = sandbox.path("services/cluster-api");
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let run = sandbox
            .program("git")
            .args(identity.iter().chain(args).copied())
            .cwd(repo.clone())
            .run();
        run.assert_code(0);
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=one"]);
    git(&["tag", "v1"]);
    sandbox.replace(
        "cp9.yaml",
        "repo: ./services/cluster-api\n",
        "repo: ./services/cluster-api\n      ref: v1\n",
    );
    assert_found(&doctor(&sandbox), "source-at-ref", "ok", 0);

    sandbox.write("services/cluster-api/new.txt", "new");
    let mut before = BTreeMap::new();
    files(&repo, &mut before);
    let dirty = assert_found(&doctor(&sandbox), "source-dirty", "ok", 0);
    assert_eq!(dirty["shown"], true);
    let mut after = BTreeMap::new();
    files(&repo, &mut after);
    assert_eq!(before, after);
    let text = dirty["finding"].as_str().expect("a text");
    assert!(
        text.contains("1 uncommitted file on `main`") && text.contains("digest"),
        "{text}"
    );

    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=two"]);
    assert_found(&doctor(&sandbox), "source-not-at-ref", "warning", 0);
    git(&["tag", "--delete", "v1"]);
    assert_found(&doctor(&sandbox), "source-ref-unknown", "warning", 0);
}
