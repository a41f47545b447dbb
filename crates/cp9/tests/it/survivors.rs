//! A destroy that something survives says so, keeps the folder, and goes on where it stopped.

use cp9_testkit::Sandbox;

use crate::prebuilt;

/// A session whose worker leaves a process that holds its port and carries no mark of the session.
fn leaking() -> Sandbox {
    let sandbox = prebuilt::quickstart();
    let leak = prebuilt::fixture("leak");
    let built = sandbox.read("cp9.yaml");
    let line = built
        .lines()
        .find(|line| line.contains("cluster-worker\", \"${output}"))
        .expect("the worker's build");
    let pid_file = sandbox.path("leak.pid");
    let edited = built.replacen(
        line,
        &format!(
            "        command: [cp, \"{leak}\", \"${{output}}\"]\n      run:\n        env:\n          LEAK_PID_FILE: \"{pid_file}\""
        ),
        1,
    );
    sandbox.write("cp9.yaml", &edited);
    sandbox
}

fn skipped(run: &cp9_testkit::Run, stage: &str) -> bool {
    let stages = run.data()["stages"].as_array().expect("stages").clone();
    stages
        .iter()
        .find(|one| one["name"] == stage)
        .expect("the stage")["skipped"]
        .is_string()
}

#[test]
fn a_port_that_an_unmarked_process_keeps_is_a_survivor() {
    let sandbox = leaking();
    sandbox.cp9(["up"]).run().assert_code(0);
    let first = sandbox.cp9(["destroy", "--json"]).run().assert_code(2);
    assert_eq!(first.json()["error"]["code"], "survivors");
    let survivors = first.data()["survivors"]
        .as_array()
        .expect("survivors")
        .clone();
    assert_eq!(survivors.len(), 1, "{survivors:?}");
    assert_eq!(survivors[0]["type"], "port");
    assert!(survivors[0]["remedy"].is_string() && survivors[0]["reason"].is_string());
    assert!(
        sandbox.folder().join("destroy/survivors.json").exists(),
        "the list stays for the next pass"
    );

    // The port is what is known of it: the second pass must not have forgotten it.
    let text = sandbox.cp9(["destroy"]).run().assert_code(2);
    assert!(
        text.stderr.contains("POST-SCAN FAIL") || text.stdout.contains("POST-SCAN FAIL"),
        "{}",
        text.snapshot()
    );
    assert!(text.snapshot().contains("hint:"), "{}", text.snapshot());

    // Stage 1 is not done twice, unless forced.
    let again = sandbox.cp9(["destroy", "--json"]).run().assert_code(2);
    assert!(skipped(&again, "controller") && skipped(&again, "host"));
    let forced = sandbox
        .cp9(["destroy", "--force", "--json"])
        .run()
        .assert_code(2);
    assert!(!skipped(&forced, "controller") && !skipped(&forced, "host"));

    let pid = sandbox.read("leak.pid");
    let killed = std::process::Command::new("kill")
        .args(["-9", pid.trim()])
        .status()
        .expect("kill starts");
    assert!(killed.success());
    sandbox.destroy();
}

#[test]
fn a_folder_removed_by_hand_leaves_nothing_running() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    std::fs::remove_dir_all(sandbox.folder()).expect("removed by hand");
    assert!(
        !sandbox.leftovers().is_empty(),
        "the services outlive their folder"
    );
    sandbox
        .cp9(["destroy", "--session", sandbox.session()])
        .run();
    sandbox.cp9(["destroy"]).run();
    assert_eq!(sandbox.leftovers(), []);
}

#[test]
fn an_up_after_a_folder_was_removed_by_hand_begins_cleanly() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    std::fs::remove_dir_all(sandbox.folder()).expect("removed by hand");
    let again = sandbox.cp9(["up"]).run().assert_code(0);
    assert!(again.stderr.contains("left"), "{}", again.stderr);
    assert_eq!(
        sandbox.endpoint("cluster-api"),
        api,
        "its ports are free again"
    );
    sandbox.destroy();
}
