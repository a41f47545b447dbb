//! `up` as a gate and its limits: `--ci`, `--timeout`, `--attach`, what `up` tries again.

use std::time::Duration;

use cp9_testkit::wait_until;

use crate::prebuilt;

const LIMIT: Duration = Duration::from_mins(1);

/// Replaces the command that builds the API.
fn build_api_by(sandbox: &cp9_testkit::Sandbox, command: &str) {
    let text = sandbox.read("cp9.yaml");
    let line = text
        .lines()
        .find(|line| line.contains("cluster-api\", \"${output}"))
        .expect("the API's build");
    sandbox.write(
        "cp9.yaml",
        &text.replacen(line, &format!("        command: {command}"), 1),
    );
}

#[test]
fn ci_ends_with_the_first_failure() {
    let sandbox = prebuilt::quickstart();
    build_api_by(
        &sandbox,
        r#"[sh, -c, "echo no such thing >&2; exit 3 # ${output}"]"#,
    );
    let run = sandbox.cp9(["up", "--ci", "--json"]).run().assert_code(6);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "services-not-ready");
    assert!(
        error["message"]
            .as_str()
            .expect("text")
            .contains("cluster-api"),
        "{error}"
    );
    sandbox.cp9(["destroy"]).run().assert_code(0);
}

#[test]
fn ci_is_zero_when_all_is_ready_also_after_a_change() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up", "--ci"]).run().assert_code(0);
    let text = sandbox.read("app-delivery/envs/quickstart/cluster-api/deployment.yaml");
    let changed = text.replacen(
        "          env:\n",
        "          env:\n            - name: GATE\n              value: \"1\"\n",
        1,
    );
    assert_ne!(text, changed);
    sandbox.write(
        "app-delivery/envs/quickstart/cluster-api/deployment.yaml",
        &changed,
    );
    sandbox.cp9(["up", "--ci"]).run().assert_code(0);
    sandbox.destroy();
}

#[test]
fn a_service_that_never_gets_a_verdict_ends_at_the_limit() {
    let sandbox = prebuilt::quickstart();
    build_api_by(&sandbox, r#"[sh, -c, "exec sleep 60 # ${output}"]"#);
    let run = sandbox
        .cp9(["up", "--timeout", "2s", "--json"])
        .run()
        .assert_code(6);
    assert_eq!(run.json()["error"]["code"], "no-verdict");
    assert!(run.millis < 20_000, "{} ms", run.millis);
    // The session stays, its logs can be read, and a later run may go on with it.
    sandbox.cp9(["logs"]).run().assert_code(0);
    assert_eq!(sandbox.status()["controller"]["state"], "running");
    sandbox.destroy();
}

#[test]
fn a_failed_build_is_tried_again_by_the_next_up() {
    let sandbox = prebuilt::quickstart();
    let tool = sandbox.path("tool");
    build_api_by(&sandbox, &format!(r#"["{tool}", "${{output}}"]"#));
    std::fs::write(&tool, "#!/bin/sh\nexit 1\n").expect("a tool");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    sandbox.cp9(["up"]).run().assert_code(6);
    let built = prebuilt::built("cluster-api");
    std::fs::write(&tool, format!("#!/bin/sh\nexec cp \"{built}\" \"$1\"\n"))
        .expect("a mended tool");
    sandbox.cp9(["up"]).run().assert_code(0);
    sandbox.destroy();
}

#[test]
fn attach_follows_and_an_interrupt_only_detaches() {
    let sandbox = prebuilt::quickstart();
    let attached = sandbox.cp9(["up", "--attach"]).spawn();
    wait_until(LIMIT, "the session to be ready", || {
        let run = sandbox.cp9(["status", "--json"]).run();
        let ready = run.code == Some(0)
            && run.data()["states"]
                .as_array()?
                .iter()
                .all(|state| matches!(state["status"].as_str(), Some("done" | "skipped")));
        ready.then_some(())
    });
    attached.interrupt();
    let ended = attached.wait(LIMIT);
    assert!(matches!(ended.code, Some(0 | 130)), "{}", ended.snapshot());
    assert_eq!(sandbox.status()["controller"]["state"], "running");
    sandbox.destroy();
}

#[test]
fn an_app_delivery_repo_around_the_session_folder_is_read() {
    let sandbox = prebuilt::quickstart();
    let text = sandbox
        .read("cp9.yaml")
        .replacen("repo: ./app-delivery", "repo: .", 1);
    sandbox.write(
        "cp9.yaml",
        &text.replace("registry: registry/", "registry: app-delivery/registry/"),
    );
    for service in ["cluster-api", "cluster-worker"] {
        let file = format!("app-delivery/registry/{service}.yaml");
        let text = sandbox
            .read(&file)
            .replacen("path: envs/", "path: app-delivery/envs/", 1);
        sandbox.write(&file, &text);
    }
    sandbox.cp9(["up"]).run().assert_code(0);
    sandbox.cp9(["up"]).run().assert_code(0);
    sandbox.destroy();
}
