//! The crash matrix: for every state the run is stopped there, by an error, by SIGINT and by SIGKILL,
//! before and after the state's effect. The run that follows ends with the same artefacts as one that was
//! never stopped, and `destroy` leaves nothing.

use cp9_model::lifecycle::StateName;
use cp9_testkit::{Run, Sandbox, assert_same};
use serde_json::Value;

use crate::prebuilt;

const POINTS: [&str; 2] = ["before", "after-effect"];

fn states() -> impl Iterator<Item = StateName> {
    StateName::ALL
        .iter()
        .copied()
        .filter(|state| !state.is_optional())
}

/// How a run that was stopped ends: its exit, and where its journal says the state stands.
fn check_stop(run: &Run, how: &str) -> &'static str {
    match how {
        "error" => {
            assert_eq!(run.code, Some(1), "{}", run.snapshot());
            "failed"
        }
        "sigint" => {
            assert_eq!(run.code, Some(130), "{}", run.snapshot());
            "interrupted"
        }
        _ => {
            assert_eq!(run.signal, Some(9), "{}", run.snapshot());
            "running"
        }
    }
}

/// Stops a first run at a state, and asserts that it stopped there and nowhere else.
fn stop_at(sandbox: &Sandbox, state: StateName, point: &str, how: &str) {
    let fault = format!("{state}:{point}:{how}");
    let run = sandbox.cp9(["up"]).env("CP9_FAULT", fault.as_str()).run();
    let expected = check_stop(&run, how);
    let journal = std::fs::read(sandbox.folder().join("state.json")).expect("the journal is there");
    let journal: Value = serde_json::from_slice(&journal).expect("the journal is whole");
    for other in states() {
        let status = journal["states"][other.as_str()]["status"]
            .as_str()
            .unwrap_or_default();
        match other.cmp(&state) {
            std::cmp::Ordering::Less => {
                assert!(
                    matches!(status, "done" | "skipped"),
                    "{fault}: {other} is {status}"
                );
            }
            std::cmp::Ordering::Equal => assert_eq!(status, expected, "{fault}"),
            std::cmp::Ordering::Greater => assert_eq!(status, "pending", "{fault}: {other}"),
        }
    }
}

fn matrix(how: &str) {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let whole = sandbox.artefacts();
    assert!(whole.len() > 20, "the artefacts of a whole run: {whole:#?}");
    sandbox.destroy();
    for state in states() {
        for point in POINTS {
            stop_at(&sandbox, state, point, how);
            sandbox.destroy();
            stop_at(&sandbox, state, point, how);
            sandbox.cp9(["up"]).run().assert_code(0);
            assert_same(&whole, &sandbox.artefacts());
            sandbox.destroy();
        }
    }
}

#[test]
fn an_error_in_any_state_is_recovered_from() {
    matrix("error");
}

#[test]
fn an_interrupt_in_any_state_is_recovered_from() {
    matrix("sigint");
}

#[test]
fn a_kill_in_any_state_is_recovered_from() {
    matrix("sigkill");
}
