//! `cp9 destroy`: idempotent, from any place, and honest about what survives.

use cp9_testkit::Sandbox;

use crate::prebuilt::{self, CP9};

#[test]
fn destroy_is_idempotent_and_leaves_only_its_record() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let run = sandbox.cp9(["destroy", "--json"]).run().assert_code(0);
    let stages: Vec<String> = run.data()["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .map(|stage| stage["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(
        stages,
        [
            "controller",
            "host",
            "substrate",
            "reaper",
            "post-scan",
            "folder"
        ]
    );
    assert_eq!(run.data()["survivors"].as_array().map(Vec::len), Some(0));
    sandbox.assert_nothing_left();
    let record = run.data()["record"].as_str().expect("a record").to_owned();
    assert!(std::path::Path::new(&record).exists());
    let again = sandbox.cp9(["destroy", "--json"]).run().assert_code(0);
    assert_eq!(again.data()["already"], true);
    sandbox
        .cp9(["destroy", "--session", sandbox.session()])
        .run()
        .assert_code(0);
    let registry = sandbox.root().join("home/.local/state/cp9/sessions");
    let entries = registry
        .read_dir_utf8()
        .expect("the registry")
        .filter_map(Result::ok);
    let entries: Vec<String> = entries.map(|entry| entry.file_name().to_owned()).collect();
    assert_eq!(entries, [".lock"], "the name is free again");
}

#[test]
fn a_session_that_never_was_is_a_config_error() {
    let sandbox = Sandbox::quickstart(CP9);
    let run = sandbox.cp9(["destroy"]).run().assert_code(3);
    assert!(run.stderr.contains("hint:"), "{}", run.stderr);
    sandbox
        .cp9(["destroy", "--session", "never-was"])
        .run()
        .assert_code(3);
    sandbox.cp9(["status"]).run().assert_code(3);
}

#[test]
fn a_session_file_that_no_longer_parses_can_still_be_destroyed() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    sandbox.write("cp9.yaml", "name: [\n");
    sandbox.cp9(["up"]).run().assert_code(3);
    sandbox.destroy();
}

#[test]
fn a_destroy_from_inside_the_session_is_refused() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let state = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    let state: serde_json::Value = serde_json::from_str(&state).expect("the journal");
    let id = state["id"].as_str().expect("an id");
    let run = sandbox
        .cp9(["destroy"])
        .env("CP9_SESSION_ID", id)
        .run()
        .assert_code(3);
    assert!(run.stderr.contains("inside session"), "{}", run.stderr);
    sandbox.destroy();
}

/// Starts a process that carries the session's scope and belongs to none of its groups.
fn leave(sandbox: &Sandbox) {
    let state = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    let state: serde_json::Value = serde_json::from_str(&state).expect("the journal");
    let status = std::process::Command::new("setsid")
        .args(["--fork", "sleep", "600"])
        .env("CP9_SESSION", sandbox.session())
        .env("CP9_SESSION_OWNER", "local")
        .env("CP9_SESSION_ID", state["id"].as_str().expect("an id"))
        .current_dir("/")
        .status()
        .expect("setsid starts");
    assert!(status.success());
}

#[test]
fn a_pause_ends_a_child_that_left_its_group_and_its_parent() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    leave(&sandbox);
    sandbox.cp9(["pause"]).run().assert_code(0);
    assert_eq!(sandbox.leftovers(), []);
    sandbox.destroy();
}

#[test]
fn a_child_that_left_its_group_and_its_parent_is_found_and_ended() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    leave(&sandbox);
    let run = sandbox.cp9(["destroy", "--json"]).run().assert_code(0);
    let stages = run.data()["stages"].as_array().expect("stages").clone();
    let reaper = stages
        .iter()
        .find(|stage| stage["name"] == "reaper")
        .expect("the reaper");
    assert_eq!(reaper["deleted"], 1, "{stages:?}");
    sandbox.assert_nothing_left();
}

#[test]
fn a_copied_folder_does_not_end_the_session_it_was_copied_from() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let copy = sandbox.root().join("copy");
    let copied = std::process::Command::new("cp")
        .args(["-r", sandbox.path("").as_str(), copy.as_str()])
        .status();
    assert!(copied.expect("cp starts").success());
    for command in ["destroy", "pause", "up"] {
        let run = sandbox
            .cp9([command])
            .cwd(copy.clone())
            .run()
            .assert_code(3);
        assert!(
            run.stderr.contains(sandbox.folder().as_str()),
            "{}",
            run.stderr
        );
    }
    assert_eq!(sandbox.status()["controller"]["state"], "running");
    std::fs::remove_dir_all(&copy).expect("the copy is only files");
    sandbox.destroy();
}

#[test]
fn a_moved_project_is_destroyed_and_its_name_is_free_again() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let file = sandbox.path("cp9.yaml");
    let old = file.parent().expect("a folder");
    let new = sandbox.root().join("moved");
    std::fs::rename(old, &new).expect("moved");
    let up = sandbox.cp9(["up"]).cwd(new.clone()).run().assert_code(3);
    assert!(up.stderr.contains("cp9 destroy"), "{}", up.stderr);
    let destroy = sandbox.cp9(["destroy"]).cwd(new.clone()).run();
    destroy.assert_code(0);
    let registry = sandbox.root().join("home/.local/state/cp9/sessions");
    let entry = registry.join(format!("{}.json", sandbox.session()));
    assert!(!entry.exists(), "{entry} is left");
    std::fs::rename(&new, old).expect("moved back");
    sandbox.assert_nothing_left();
}

#[test]
fn a_disk_that_takes_no_writes_keeps_nothing_running() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    // Files may not grow: every write fails as on a full disk.
    let full = "trap '' XFSZ; ulimit -f 0; exec \"$0\" destroy";
    let run = sandbox.program("/bin/sh").args(["-c", full, CP9]).run();
    let said = run.snapshot();
    assert!(
        said.contains("the ledger of this destroy was not written"),
        "{said}"
    );
    assert!(said.contains("post-scan: deleted 0, 0 survived"), "{said}");
    // Nothing runs and the folder is gone; only the record could not be left, which is said.
    run.assert_code(2);
    assert!(said.contains("cannot write"), "{said}");
    assert_eq!(sandbox.leftovers(), []);
    assert!(!sandbox.folder().exists());
}

#[test]
fn a_damaged_journal_is_no_obstacle_and_another_versions_is() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let journal = format!(".cp9/{}/state.json", sandbox.session());
    let whole = sandbox.read(&journal);
    let mut newer: serde_json::Value = serde_json::from_str(&whole).expect("the journal");
    newer["format"] = 9999.into();
    sandbox.write(&journal, &newer.to_string());
    let session = sandbox.session().to_owned();
    let refused = sandbox
        .cp9(["destroy", "--session", &session])
        .run()
        .assert_code(3);
    assert!(refused.stderr.contains("9999"), "{}", refused.stderr);
    sandbox.write(&journal, &whole[..whole.len() / 2]);
    sandbox
        .cp9(["destroy", "--session", &session])
        .run()
        .assert_code(0);
    sandbox.assert_nothing_left();
}
