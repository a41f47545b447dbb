//! `cp9 setup`: what it proves on this machine, what it refuses, and that it creates nothing.

use cp9_testkit::Sandbox;

use crate::prebuilt::CP9;

/// What there is in the sandbox's working folder and home.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let dirs = [sandbox.path(""), sandbox.root().join("home")];
    let entries = dirs
        .iter()
        .flat_map(|dir| dir.read_dir_utf8().expect("the folder").flatten());
    entries.map(|entry| entry.path().to_string()).collect()
}

#[test]
fn without_a_session_file_the_machine_is_proven() {
    let sandbox = Sandbox::new(CP9);
    let run = sandbox.cp9(["setup", "--json"]).run().assert_code(0);
    let data = run.data();
    assert_eq!(data["file"], serde_json::Value::Null);
    assert_eq!(data["created"], serde_json::json!([]));
    let cloud = &data["clouds"][0];
    assert_eq!(
        (&cloud["cloud"], &cloud["owner"]),
        (&"local".into(), &"local".into())
    );
    let proof = cloud["proofs"][0].as_str().expect("a proof");
    assert!(proof.contains("read back from a child process"), "{proof}");
    let credentials = cloud["credentials"]
        .as_str()
        .expect("a word on credentials");
    assert!(credentials.starts_with("none"), "{credentials}");
    assert_eq!(files(&sandbox), Vec::<String>::new());
    assert_eq!(sandbox.leftovers(), []);
}

#[test]
fn with_a_session_file_it_speaks_of_that_session() {
    let sandbox = Sandbox::quickstart(CP9);
    let before = files(&sandbox);
    let run = sandbox
        .cp9(["setup", "--json"])
        .env("CP9_OWNER", "Alice@Example.com")
        .run()
        .assert_code(0);
    assert_eq!(run.data()["clouds"][0]["owner"], "alice@example.com");
    let target = &run.json()["target"];
    assert_eq!(target["session"], sandbox.session());
    assert_eq!(target["cloud"], "local");
    let text = sandbox.cp9(["setup"]).run().assert_code(0);
    assert!(
        text.stdout.contains("cloud local: proven"),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains("nothing was created"),
        "{}",
        text.stdout
    );
    assert_eq!(files(&sandbox), before);
}

#[test]
fn a_cloud_that_this_build_has_no_adapter_for_is_named_with_its_line() {
    let sandbox = Sandbox::quickstart(CP9);
    sandbox.replace("cp9.yaml", "cloud: local", "cloud: gcp\n  region: us-west2");
    let run = sandbox.cp9(["setup", "--json"]).run().assert_code(3);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "config-invalid");
    let diagnostic = &error["diagnostics"][0];
    let message = diagnostic["message"].as_str().expect("a message");
    assert!(
        message.contains("no adapter for `target.cloud: gcp`"),
        "{message}"
    );
    assert!(diagnostic["line"].as_u64().is_some_and(|line| line > 1));
}

#[test]
fn a_session_file_that_was_named_must_be_there() {
    let sandbox = Sandbox::new(CP9);
    let run = sandbox
        .cp9(["setup", "--config", "gone.yaml", "--json"])
        .run()
        .assert_code(3);
    assert_eq!(run.json()["error"]["code"], "session-file-missing");
}

#[test]
fn a_machine_that_cannot_start_the_child_proves_nothing() {
    let sandbox = Sandbox::new(CP9);
    let empty = sandbox.root().join("bin");
    let run = sandbox
        .cp9(["setup", "--json"])
        .env("PATH", empty.as_str())
        .run();
    assert_ne!(run.code, Some(0), "{}", run.stdout);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "scope-probe-failed");
    assert_eq!(run.json()["data"], serde_json::Value::Null);
}
