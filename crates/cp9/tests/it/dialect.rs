//! The dialect end to end; its rules are tested beside it.

use snapbox::{assert_data_eq, str};

use crate::{cp9, envelope, transcript};

#[test]
fn a_wrong_link_stops_the_chain_before_its_first_command() {
    assert_data_eq!(
        transcript(&["cmds.tree", ":", "stauts"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown command `stauts`

hint: did you mean `status`?
hint: `cp9 --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["cmds.tree", ":"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: there is no command after `:`

hint: chain commands like `cp9 up : status`

"#]]
    );
    assert_data_eq!(
        transcript(&["cmds.tree", "{cp9.verbos=true}"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown setting `{cp9.verbos=true}`

hint: did you mean `{cp9.verbose=…}`?

"#]]
    );
    assert_data_eq!(
        transcript(&["destroy", "yes=1", "json=true"]),
        str![[r#"
exit 64
--- stdout
{"apiVersion":"cp9.output/v1","command":"cp9","ok":false,"data":null,"error":{"category":"usage","code":"argument-invalid","message":"`yes` takes `true` or `false`, not `1`","causes":[],"hints":[],"exit":64},"target":null}
--- stderr

"#]]
    );
}

#[test]
fn settings_reach_every_later_command() {
    let home = tempfile::tempdir().expect("a private home");
    let args = [
        "schema",
        "output",
        "{sys.output.format=json}",
        ":",
        "cmds.tree",
    ];
    let output = cp9(home.path(), &args).output().expect("cp9 starts");
    assert!(output.status.success());
    let stdout = String::from_utf8(output.stdout).expect("cp9 prints UTF-8");
    let commands: Vec<String> = stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .map(|found| found["command"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(commands, ["schema", "cmds.tree"]);
}

#[test]
fn a_failure_ends_the_chain_with_its_code() {
    let home = tempfile::tempdir().expect("a private home");
    let args = [
        "{env.CP9_FAULT=command:before:panic}",
        "status",
        "--json",
        ":",
        "cmds.tree",
        "--json",
    ];
    let output = cp9(home.path(), &args).output().expect("cp9 starts");
    assert_eq!(output.status.code(), Some(70));
    assert_eq!(envelope(&output)["command"], "status");
}
