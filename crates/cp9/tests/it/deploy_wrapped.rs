//! `cp9 deploy` of services whose built binary is started by another program, and of services that leave
//! processes behind: an old version must not answer for the new one.

use cp9_testkit::{Sandbox, http_get};
use serde_json::Value;

use crate::prebuilt;

const API: &str = "cluster-api";

/// A quickstart whose cluster-api is started by this command, not yet up.
fn started_by(command: &str) -> Sandbox {
    let sandbox = prebuilt::quickstart();
    let text = sandbox.read("cp9.yaml");
    let at = text.find("    cluster-api:\n").expect("the service");
    let app = text[at..].find("      app:").expect("its app") + at;
    let run = format!("      run: {{command: {command}}}\n");
    assert!(!text[at..app].contains("run:"), "it has a command already");
    sandbox.write(
        "cp9.yaml",
        &format!("{}{run}{}", &text[..app], &text[app..]),
    );
    sandbox
}

fn deploy(sandbox: &Sandbox, code: i32) -> Value {
    let run = sandbox.cp9(["deploy", API, "--json"]).run();
    run.assert_code(code).json()
}

fn service(sandbox: &Sandbox) -> Value {
    let status = sandbox.status();
    let services = status["services"].as_array().expect("services");
    let found = services.iter().find(|service| service["name"] == API);
    found
        .unwrap_or_else(|| panic!("no {API} in {status}"))
        .clone()
}

fn old_copy(sandbox: &Sandbox) -> String {
    let live = sandbox.folder().join(".cp9-build/cluster-api/live/service");
    let old = sandbox.path("old");
    std::fs::copy(live, &old).expect("the first version");
    old.into_string()
}

/// Makes the next build give other bytes.
fn new_version(sandbox: &Sandbox) {
    let built = prebuilt::built(API);
    let script = format!("cp {built} $1; printf x >> $1; chmod 755 $1\n");
    sandbox.write("build.sh", &script);
    let path = sandbox.path("build.sh");
    let copy = format!("[cp, \"{built}\", \"${{output}}\"]");
    let other = format!("[sh, \"{path}\", \"${{output}}\"]");
    sandbox.replace("cp9.yaml", &copy, &other);
}

#[test]
fn a_program_that_starts_the_built_binary_deploys() {
    let sandbox = started_by("[sh, -c, 'sleep 0.3; \"$0\" & wait', \"${binary}\"]");
    sandbox.cp9(["up"]).run().assert_code(0);
    new_version(&sandbox);
    let envelope = deploy(&sandbox, 0);
    let generation = &envelope["data"]["generation"];
    assert_eq!(generation["current"], true, "{envelope}");
    assert_eq!(generation["binary"], generation["running"], "{envelope}");
    let glance = service(&sandbox);
    assert_eq!(glance["generation"]["current"], true, "{glance}");
    sandbox.destroy();
}

#[test]
fn a_program_that_starts_an_old_copy_is_no_deploy() {
    let sandbox = started_by("[sh, start.sh, \"${binary}\"]");
    let start = sandbox.path("start.sh");
    sandbox.write("start.sh", "exec \"$1\"\n");
    sandbox.replace("cp9.yaml", "[sh, start.sh,", &format!("[sh, \"{start}\","));
    sandbox.cp9(["up"]).run().assert_code(0);
    let old = old_copy(&sandbox);
    sandbox.write("start.sh", &format!("exec {old}\n"));
    new_version(&sandbox);
    let envelope = deploy(&sandbox, 6);
    assert_eq!(
        envelope["error"]["code"], "binary-not-running",
        "{envelope}"
    );
    let generation = &envelope["data"]["generation"];
    assert_eq!(generation["differs"], "binary≠running", "{envelope}");
    assert_ne!(generation["binary"], generation["running"], "{envelope}");
    assert_eq!(envelope["data"]["ready"], true, "it looks green");
    sandbox.destroy();
}

#[test]
fn what_left_its_group_ends_with_the_start_that_made_it() {
    let sandbox = started_by("[sh, -c, 'setsid \"$0\" & sleep 600', \"${binary}\"]");
    sandbox.cp9(["up"]).run().assert_code(0);
    let service = service(&sandbox);
    let url = service["endpoint"].as_str().expect("where it answers");
    let served = || http_get(&format!("{url}/healthz")).is_ok_and(|reply| reply.status == 200);
    assert!(served());
    new_version(&sandbox);
    let envelope = deploy(&sandbox, 0);
    let generation = &envelope["data"]["generation"];
    assert_eq!(
        generation["current"], true,
        "the new version has the port: {envelope}"
    );
    assert!(served());
    sandbox.cp9(["pause"]).run().assert_code(0);
    assert!(!served(), "its port is free");
    sandbox.destroy();
}
