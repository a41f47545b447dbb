//! Wrong command lines: exit 64, what is meant instead, and the same as JSON.

use snapbox::{assert_data_eq, str};

use crate::{cp9, envelope, text, transcript};

#[test]
fn no_command() {
    assert_data_eq!(
        transcript(&[]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: a command is missing

hint: `cp9 --help` shows what it takes

"#]]
    );
}

#[test]
fn unknown_command() {
    assert_data_eq!(
        transcript(&["stauts"]),
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
        transcript(&["quux", "--json"]),
        str![[r#"
exit 64
--- stdout
{"apiVersion":"cp9.output/v1","command":"cp9","ok":false,"data":null,"error":{"category":"usage","code":"command-unknown","message":"unknown command `quux`","causes":[],"hints":["`cp9 --help` shows what it takes"],"exit":64},"target":null}
--- stderr

"#]]
    );
}

#[test]
fn nobody_is_led_to_destroy() {
    assert!(!transcript(&["deplo"]).contains("destroy"));
    assert!(!transcript(&["deploys"]).contains("destroy"));
    assert!(transcript(&["destory"]).contains("did you mean `destroy`?"));
}

#[test]
fn a_session_file_as_a_word() {
    assert_data_eq!(
        transcript(&["up", "my.yaml"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown argument `my.yaml`

hint: did you mean `--config my.yaml`?
hint: `cp9 up --help` shows what it takes

"#]]
    );
}

#[test]
fn unknown_flag() {
    assert_data_eq!(
        transcript(&["logs", "--folow"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown argument `--folow`

hint: did you mean `--follow`?
hint: `cp9 logs --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["logs", "json=true", "folow=true", "x"]),
        str![[r#"
exit 64
--- stdout
{"apiVersion":"cp9.output/v1","command":"logs","ok":false,"data":null,"error":{"category":"usage","code":"argument-unknown","message":"unknown argument `x`","causes":[],"hints":["`cp9 logs --help` shows what it takes"],"exit":64},"target":null}
--- stderr

"#]]
    );
}

#[test]
fn wrong_values() {
    assert_data_eq!(
        transcript(&["logs", "--since", "yesterday"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `yesterday` cannot be the value of `--since <DURATION>`: write it like `90s`, `5m` or `1h30m`

hint: `cp9 logs --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["logs", "level=eror"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `eror` cannot be the value of `--level <LEVEL>`, only `debug`, `info`, `warn`, `error`

hint: did you mean `error`?
hint: `cp9 logs --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["logs", "--level"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `--level <LEVEL>` needs a value

hint: `cp9 logs --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["up", "config="]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `` cannot be the value of `--config <PATH>`: it must not be empty

hint: `cp9 up --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["up", "--verbose=1"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `--verbose` takes no value, `1` was given

hint: `cp9 up --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["status", "--json", "--wait=-5m"]),
        str![[r#"
exit 64
--- stdout
{"apiVersion":"cp9.output/v1","command":"status","ok":false,"data":null,"error":{"category":"usage","code":"argument-invalid","message":"`-5m` cannot be the value of `--wait[=<DURATION>]`: it must not be negative","causes":[],"hints":["`cp9 status --help` shows what it takes"],"exit":64},"target":null}
--- stderr

"#]]
    );
}

#[test]
fn flags_that_exclude_each_other() {
    assert_data_eq!(
        transcript(&["up", "--no-tilt", "--attach"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `--no-tilt` cannot be used together with `--attach`

hint: `cp9 up --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["destroy", "yes=true", "--yes"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `--yes` is given more than once

hint: `cp9 destroy --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["logs", "api", "service=api"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `[SVC]` cannot be used together with `--service <SVC>`

hint: `cp9 logs --help` shows what it takes

"#]]
    );
    assert_data_eq!(
        transcript(&["logs", "api", "worker"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown argument `worker`

hint: `cp9 logs --help` shows what it takes

"#]]
    );
}

#[test]
fn a_missing_argument() {
    assert_data_eq!(
        transcript(&["controller", "serve"]),
        str![[r#"
exit 64
--- stdout
--- stderr
error: `--folder <PATH>` is missing

hint: `cp9 controller serve --help` shows what it takes

"#]]
    );
}

#[test]
fn arguments_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = tempfile::tempdir().expect("a private home");
    let output = cp9(home.path(), &[])
        .arg(std::ffi::OsStr::from_bytes(b"st\xffatus"))
        .output()
        .expect("cp9 starts");
    assert_data_eq!(
        text(&output),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown command `st�atus`

hint: did you mean `status`?
hint: `cp9 --help` shows what it takes

"#]]
    );
    let output = cp9(home.path(), &["st\u{1b}[2Jatus"])
        .output()
        .expect("cp9 starts");
    assert_data_eq!(
        text(&output),
        str![[r#"
exit 64
--- stdout
--- stderr
error: unknown command `st/u{1b}[2Jatus`

hint: did you mean `status`?
hint: `cp9 --help` shows what it takes

"#]]
    );
}

#[test]
fn a_directory_that_is_gone() {
    let home = tempfile::tempdir().expect("a private home");
    let gone = home.path().join("gone");
    std::fs::create_dir(&gone).expect("a directory");
    let mut shell = std::process::Command::new("/bin/sh");
    let script = format!(
        "rmdir \"$PWD\" && exec {} status --json",
        env!("CARGO_BIN_EXE_cp9")
    );
    let output = shell
        .args(["-c", &script])
        .current_dir(&gone)
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert_eq!(envelope(&output)["error"]["code"], "cwd-unreadable");
}

#[test]
fn a_bug_is_explained() {
    let home = tempfile::tempdir().expect("a private home");
    let run = |args: &[&str]| {
        cp9(home.path(), args)
            .env("CP9_FAULT", "command:before:panic")
            .output()
            .expect("cp9 starts")
    };
    let output = run(&["status", "--json"]);
    assert_eq!(output.status.code(), Some(70), "{}", text(&output));
    let found = envelope(&output);
    assert_eq!(
        (&found["command"], &found["error"]["category"]),
        (&"status".into(), &"bug".into())
    );
    assert_eq!(found["error"]["exit"], 70);
    assert!(output.stderr.is_empty(), "{}", text(&output));

    let output = run(&["cmds.tree"]);
    let told = text(&output);
    assert!(told.starts_with("exit 70\n--- stdout\n--- stderr\nerror: cp9 ran into a bug of its own\ncaused by: injected"), "{told}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = tempfile::tempdir().expect("a private home");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = cp9(home.path(), &["cmds.tree"])
        .stdout(writer)
        .output()
        .expect("cp9 starts");
    assert_eq!(text(&output), "exit 0\n--- stdout\n--- stderr\n");
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let home = tempfile::tempdir().expect("a private home");
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("a full device");
    let output = cp9(home.path(), &["cmds.tree"])
        .stdout(full)
        .output()
        .expect("cp9 starts");
    assert_data_eq!(
        text(&output),
        str![[r#"
exit 1
--- stdout
--- stderr
error: cannot write the result to stdout
caused by: No space left on device (os error 28)

hint: free space where stdout goes, or redirect it elsewhere

"#]]
    );
}
