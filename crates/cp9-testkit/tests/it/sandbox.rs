//! Environment, scripted programs, clean-up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cp9_testkit::{Sandbox, wait_until};

const FAKE: &str = env!("CARGO_BIN_EXE_cp9-testkit-fake");

fn message(panics: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(panics)).expect_err("it panics");
    payload.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn the_environment_is_private() {
    let sandbox = Sandbox::new("/nowhere/cp9");
    let run = sandbox
        .program("/usr/bin/env")
        .env("CP9_OWNER", "me")
        .run()
        .assert_code(0);
    let mut names: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    names.retain(|name| !matches!(*name, "RUSTUP_HOME" | "CARGO_HOME"));
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "CP9_OWNER",
            "GIT_CONFIG_NOSYSTEM",
            "HOME",
            "LANG",
            "PATH",
            "TMPDIR"
        ]
    );
    let snapshot = run.snapshot();
    assert!(
        snapshot.contains("HOME=[ROOT]/home\n") && snapshot.contains("PATH=[ROOT]/bin:"),
        "{snapshot}"
    );
}

#[test]
fn a_scripted_program_stands_first_on_path() {
    let sandbox = Sandbox::new("/nowhere/cp9");
    sandbox.fake(
        "terraform",
        FAKE,
        r#"[{"argv":["plan","**"],"stdout":"planned\n","exit":2,"touch":{"plan.bin":""}}]"#,
    );
    let run = sandbox
        .program("/bin/sh")
        .args(["-c", "terraform plan -json -out=x"])
        .run();
    assert_eq!(run.snapshot(), "planned\n--- stderr ---\n--- exit 2 ---\n");
    assert!(sandbox.path("plan.bin").exists());
    assert_eq!(
        sandbox.calls("terraform")[0].argv,
        ["plan", "-json", "-out=x"]
    );
    sandbox.assert_script_spent();
}

#[test]
fn unscripted_calls_and_unused_lines_are_reported() {
    let sandbox = Sandbox::new("/nowhere/cp9");
    sandbox.fake(
        "tilt",
        FAKE,
        r#"[{"argv":["up"]},{"argv":["version"],"repeat":true}]"#,
    );
    let run = sandbox
        .program("/bin/sh")
        .args(["-c", "tilt version && tilt version && tilt down"])
        .run()
        .assert_code(97);
    assert!(
        run.stderr.contains("does not expect this call: [\"down\"]"),
        "{}",
        run.stderr
    );
    let text = message(|| sandbox.assert_script_spent());
    assert_eq!(
        text,
        "the script is not spent\nunscripted call: tilt down\nunused line: tilt up"
    );
    sandbox.fake("tilt", FAKE, "[]");
    sandbox.assert_script_spent();
    assert!(message(|| sandbox.fake("tilt", FAKE, "{")).contains("script of `tilt`"));
}

#[test]
fn the_end_of_a_sandbox_destroys_sessions_and_kills_what_is_left() {
    let sandbox = Sandbox::new(FAKE);
    let root = sandbox.root().to_owned();
    sandbox.write(".cp9/one/state.json", "{}");
    sandbox.write(".cp9/.destroyed/old.json", "{}");
    sandbox.fake("hang", FAKE, r#"[{"argv":[],"hang":true}]"#);
    let hanging = sandbox.program(root.join("bin/hang")).spawn();
    wait_until(Duration::from_secs(20), "the program", || {
        (sandbox.leftovers().len() == 1).then_some(())
    });
    assert!(message(|| sandbox.assert_nothing_left()).contains("processes are left"));
    drop(sandbox);
    let run = hanging.wait(Duration::from_secs(20));
    assert_eq!(run.signal, Some(9));
    assert!(!root.exists());
}

#[test]
fn something_that_holds_the_output_open_is_reported() {
    let sandbox = Sandbox::new("/nowhere/cp9");
    sandbox.fake("hang", FAKE, r#"[{"argv":[],"hang":true}]"#);
    let text = message(|| {
        let leaves_it = sandbox.program("/bin/sh").args(["-c", "hang & exit 0"]);
        let _run = leaves_it.run();
    });
    assert!(
        text.contains("something else holds its output open"),
        "{text}"
    );
}

#[test]
fn a_long_path_is_as_long_as_asked() {
    let sandbox = Sandbox::with_long_path("/nowhere/cp9", 200);
    assert!(sandbox.path("").as_str().len() >= 200);
    assert!(sandbox.path("").is_dir());
}

#[test]
fn copies_of_the_quickstart() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    assert!(
        sandbox
            .read("cp9.yaml")
            .contains(&format!("\nname: {}\n", sandbox.session()))
    );
    assert!(
        (3..=32).contains(&sandbox.session().len()),
        "{}",
        sandbox.session()
    );
    assert!(sandbox.path("services/cluster-api/src/main.rs").exists());
    let as_is = Sandbox::quickstart_as_is("/nowhere/cp9");
    assert!(
        as_is
            .read("cp9.quickstart.example.yaml")
            .contains("\nname: quickstart\n")
    );
    assert_eq!(as_is.folder(), as_is.path(".cp9/quickstart"));
}
