//! The real `cp9`, run as its users run it. One test binary; a module per command or topic.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "the snapshot tool writes them so"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests start cp9 and read their own folder"
)]

mod crash;
mod deploy;
mod deploy_wrapped;
mod destroy;
mod dialect;
mod doctor;
mod gate;
mod help;
mod identity;
mod identity_faults;
mod lending;
mod logs;
mod overrides;
mod prebuilt;
mod readme;
mod reload;
mod schema;
mod secrets;
mod session_file;
mod setup;
mod stub_serve;
mod stub_services;
mod substrate;
mod substrate_kills;
mod substrate_tofu;
mod surroundings;
mod survivors;
mod trace;
mod up;
mod usage;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `cp9` in an empty home and directory, with nothing in its environment.
fn cp9(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cp9"));
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

/// Exit code, stdout and stderr of one run, in one text.
fn transcript(args: &[&str]) -> String {
    let home = tempfile::tempdir().expect("a private home");
    let output = cp9(home.path(), args).output().expect("cp9 starts");
    let left: Vec<_> = std::fs::read_dir(home.path())
        .expect("the home is there")
        .collect();
    assert!(left.is_empty(), "{args:?} left files behind: {left:?}");
    text(&output)
}

fn text(output: &Output) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = output;
    let code = status
        .code()
        .map_or_else(|| status.to_string(), |code| code.to_string());
    let stream = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("cp9 prints UTF-8");
    format!(
        "exit {code}\n--- stdout\n{}--- stderr\n{}",
        stream(stdout),
        stream(stderr)
    )
}

/// The one JSON line that a run printed on stdout.
fn envelope(output: &Output) -> serde_json::Value {
    let stdout = std::str::from_utf8(&output.stdout).expect("cp9 prints UTF-8");
    assert_eq!(stdout.lines().count(), 1, "one envelope: {stdout}");
    serde_json::from_str(stdout).expect("the envelope is JSON")
}

#[test]
fn every_file_here_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let listed = std::fs::read_to_string(folder.join("main.rs")).expect("this file");
    for entry in std::fs::read_dir(&folder).expect("this folder") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("UTF-8");
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        let known = module == "main" || listed.lines().any(|line| line == format!("mod {module};"));
        assert!(
            known,
            "`{name}` is no module of main.rs, so its tests never run"
        );
    }
}
