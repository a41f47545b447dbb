//! Help, version and the command tree: enough for a person or an agent that knows nothing else.

use snapbox::{assert_data_eq, file, str};

use crate::{cp9, envelope, transcript};

#[test]
fn help_of_cp9() {
    assert_data_eq!(transcript(&["--help"]), file!["../snapshots/help.txt"]);
    assert_eq!(transcript(&["help"]), transcript(&["--help"]));
}

#[test]
fn help_of_commands() {
    assert_data_eq!(
        transcript(&["status", "--help"]),
        file!["../snapshots/help-status.txt"]
    );
    assert_data_eq!(
        transcript(&["logs", "-h"]),
        file!["../snapshots/help-logs.txt"]
    );
    assert_eq!(
        transcript(&["status", "help=true"]),
        transcript(&["status", "--help"])
    );
}

#[test]
fn version() {
    let expected = format!(
        "exit 0\n--- stdout\ncp9 {}\n--- stderr\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(transcript(&["--version"]), expected);
    assert_eq!(transcript(&["-V"]), expected);
}

#[test]
fn help_and_version_as_json() {
    assert_data_eq!(
        transcript(&["status", "--help", "--version"]),
        str![[r#"
exit 0
--- stdout
Show the session's states, services and controller

Usage: cp9 status [OPTIONS]

Options:
      --session <NAME>
          The session's name [default: the one of the session file, else the only one here]

      --wait[=<DURATION>]
          Wait until every service is ready, at most this long [without a value: 5m]

  -h, --help
          Print help (see a summary with '-h')

Options of every command:
      --config <PATH>
          The session file [default: cp9.yaml here or in a parent directory]

      --json[=<lines>]
          Print one JSON envelope; with `lines` first every event, one JSON line each

      --verbose
          Show every program, HTTP call and file write on stderr (also `CP9_VERBOSE=1`)

Exit codes:
    0  success
    1  permanent failure
    2  something survived a destroy, or could not be verified
    3  session file wrong or precondition unmet
    4  transient failure, retry budget spent
    5  session locked by another process
    6  not converged or unhealthy
   64  command line wrong
   70  a bug of cp9
  130  interrupted

Also understood:
  key=value                 the same as --key value; switches take true or false
  cp9 up : status           one command after the other, up to the first failure
  {env.KEY=value}           sets a variable for the rest of the chain
  {cp9.verbose=true}        the same as CP9_VERBOSE=1
  {sys.output.format=json}  the same as --json (also lines, text)
  --                        ends all of this
--- stderr

"#]]
    );
    let home = tempfile::tempdir().expect("a private home");
    let found = envelope(
        &cp9(home.path(), &["--version", "--json"])
            .output()
            .expect("cp9 starts"),
    );
    assert_eq!(
        found["data"]["text"],
        format!("cp9 {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(found["ok"], true);
}

#[test]
fn the_tree_for_people() {
    assert_data_eq!(
        transcript(&["cmds.tree"]),
        file!["../snapshots/cmds-tree.txt"]
    );
}

#[test]
fn the_tree_names_every_command_argument_and_exit_code() {
    let home = tempfile::tempdir().expect("a private home");
    let tree = envelope(
        &cp9(home.path(), &["cmds.tree", "--json"])
            .output()
            .expect("cp9 starts"),
    )["data"]
        .take();
    let names = |list: &serde_json::Value| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|entry| entry["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(
        names(&tree["commands"]),
        [
            "up",
            "status",
            "deploy",
            "logs",
            "pause",
            "destroy",
            "doctor",
            "setup",
            "stub",
            "schema",
            "cmds.tree"
        ]
    );
    assert_eq!(names(&tree["global"]), ["config", "json", "verbose"]);
    let codes: Vec<u64> = tree["exitCodes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|exit| exit["code"].as_u64())
        .collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 64, 70, 130]);
    let status = &tree["commands"][1]["args"];
    assert_eq!(names(status), ["session", "wait"]);
    assert_eq!(
        (&status[1]["type"], &status[1]["valueOptional"]),
        (&"duration".into(), &true.into())
    );
    for command in names(&tree["commands"]) {
        let help = transcript(&[&command, "--help"]);
        assert!(
            help.starts_with("exit 0\n") && help.contains("Exit codes:"),
            "{help}"
        );
    }
}
