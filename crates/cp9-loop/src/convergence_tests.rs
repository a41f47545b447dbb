//! Statuses as a controller reports them during a deploy.

use serde_json::{Value, json};

use super::*;

fn plan(binary: bool) -> DevPlan {
    let mut serve =
        json!({"name": "api", "service": "api", "kind": "serve", "cwd": "/", "trigger": "auto"});
    let build = json!({"name": "api-live-binary", "service": "api", "kind": "build", "cwd": "/",
        "trigger": "auto", "binary": "/b"});
    let mut resources = Vec::new();
    if binary {
        serve["binary"] = json!("/b");
        resources.push(build);
    }
    resources.push(serve);
    serde_json::from_value(
        json!({"apiVersion": "cp9.devplan/v1", "session": "s", "roots": {},
        "resources": resources}),
    )
    .expect("a plan")
}

fn resource(name: &str, phase: &str, more: &Value) -> Value {
    let mut status = json!({"name": name, "service": "api", "phase": phase, "ready": false,
        "verdict": false, "message": "why", "restarts": 0, "runs": 0});
    let more = more.as_object().expect("fields").clone();
    status.as_object_mut().expect("an object").extend(more);
    status
}

fn build(phase: &str, ended: u64, source: &str, binary: &str) -> Value {
    let lineage = json!({"ended": ended, "disk": source, "made_from": source});
    resource(
        "api-live-binary",
        phase,
        &json!({"binary": binary, "lineage": lineage}),
    )
}

fn process(phase: &str, start: u64, source: &str, binary: &str) -> Value {
    let lineage = json!({"ended": start, "made_from": source});
    resource(
        "api",
        phase,
        &json!({"binary": binary, "pid": 7, "lineage": lineage}),
    )
}

fn live(phase: &str, start: u64, disk: &str, made_from: &str) -> Value {
    let lineage = json!({"ended": start, "disk": disk, "made_from": made_from});
    resource("api", phase, &json!({"lineage": lineage}))
}

fn now(resources: &[Value]) -> ControllerStatus {
    serde_json::from_value(json!({
        "hello": {"id": "i", "protocol": 1, "plan_digest": "d", "pid": 1}, "resources": resources}))
    .expect("a status")
}

/// Build 5 is waited for; the process was at its start 2.
fn at(resources: &[Value]) -> Standing {
    let built = resources.len() > 1;
    let awaited = Awaited {
        service: "api".into(),
        build: built.then_some(5),
        start: 2,
    };
    standing(&plan(built), &awaited, &now(resources))
}

#[test]
fn a_green_status_of_an_earlier_build_is_no_end() {
    let old = [build("built", 4, "s", "b"), process("running", 2, "s", "b")];
    assert_eq!(at(&old), Standing::Building);
    let failed_before = [
        build("failed", 4, "s", "b"),
        process("running", 2, "s", "b"),
    ];
    assert_eq!(at(&failed_before), Standing::Building);
    let answered = [build("built", 5, "s", "b"), process("running", 2, "s", "b")];
    assert_eq!(
        at(&answered),
        Standing::Converged,
        "the same bytes restart nothing"
    );
    let later = [build("built", 9, "s", "b"), process("running", 3, "s", "b")];
    assert_eq!(at(&later), Standing::Converged);
    let newer = [
        build("building", 5, "s", "b"),
        process("running", 3, "s", "b"),
    ];
    assert_eq!(at(&newer), Standing::Building, "sources changed meanwhile");
}

#[test]
fn a_running_process_counts_only_with_the_new_binary_made_from_the_same_files() {
    for other in [
        process("running", 2, "s", "a"),
        process("running", 2, "r", "b"),
    ] {
        assert_eq!(
            at(&[build("built", 5, "s", "b"), other]),
            Standing::Starting
        );
    }
    let starting = [
        build("built", 5, "s", "b"),
        process("starting", 3, "s", "b"),
    ];
    assert_eq!(at(&starting), Standing::Starting);
}

#[test]
fn the_first_failure_ends_the_wait() {
    let why = || "why".to_owned();
    let failed = [
        build("failed", 5, "s", "b"),
        process("running", 2, "s", "b"),
    ];
    assert_eq!(at(&failed), Standing::Failed(Failure::Build(why())));
    let mut kept = build("failed", 5, "s", "b");
    kept["lineage"]["unreplaced"] = json!(true);
    let kept = [kept, process("running", 2, "s", "b")];
    assert_eq!(at(&kept), Standing::Failed(Failure::Unreplaced(why())));
    for phase in ["backoff", "quiescent"] {
        let crashed = [build("built", 5, "s", "b"), process(phase, 3, "s", "b")];
        assert_eq!(at(&crashed), Standing::Failed(Failure::Restart(why())));
    }
    let unready = [build("built", 5, "s", "b"), process("unready", 3, "s", "b")];
    assert_eq!(at(&unready), Standing::Failed(Failure::NotReady(why())));
    let mut blocked = process("waiting", 0, "s", "b");
    blocked["verdict"] = json!(true);
    let blocked = [build("built", 5, "s", "b"), blocked];
    assert_eq!(at(&blocked), Standing::Failed(Failure::Blocked(why())));
    let awaited = Awaited {
        service: "ghost".into(),
        build: None,
        start: 0,
    };
    let nobody = standing(&plan(true), &awaited, &now(&[]));
    assert_eq!(nobody, Standing::Failed(Failure::NotPlanned));
}

#[test]
fn what_is_not_built_must_be_started_from_what_is_there_now() {
    assert_eq!(at(&[live("running", 2, "e", "e")]), Standing::Converged);
    assert_eq!(at(&[live("running", 2, "f", "e")]), Standing::Starting);
    assert_eq!(
        at(&[live("backoff", 2, "e", "e")]),
        Standing::Starting,
        "it crashed before"
    );
    let crashed = at(&[live("backoff", 3, "e", "e")]);
    assert_eq!(crashed, Standing::Failed(Failure::Restart("why".into())));
    let unready = at(&[live("unready", 2, "e", "e")]);
    assert_eq!(unready, Standing::Failed(Failure::NotReady("why".into())));
}
