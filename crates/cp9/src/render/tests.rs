//! Every report as a person reads it, without colours.

#![expect(
    clippy::needless_raw_string_hashes,
    reason = "the snapshot tool writes them so"
)]

use cp9_model::control::{Phase, ResourceStatus};
use cp9_model::graph::ServiceKind;
use cp9_model::output::ErrorBody;
use cp9_model::report::{
    ControllerReport, DestroyReport, LogLine, PauseReport, ServiceReport, StageReport, StateReport,
    StatusReport, Survivor, UpReport,
};
use snapbox::{assert_data_eq, str};

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn state(name: &str, status: &str, seconds: Option<f64>, message: Option<&str>) -> StateReport {
    StateReport {
        name: name.into(),
        status: status.into(),
        seconds,
        message: message.map(str::to_owned),
    }
}

fn resource(name: &str, phase: Phase, message: Option<&str>) -> ResourceStatus {
    ResourceStatus {
        name: name.into(),
        service: "api".into(),
        phase,
        ready: matches!(phase, Phase::Running | Phase::Built),
        verdict: true,
        message: message.map(str::to_owned),
        pid: None,
        restarts: 0,
        runs: 1,
        binary: None,
        source: None,
        build_millis: Some(1234),
        lineage: None,
    }
}

fn services() -> Vec<ServiceReport> {
    let error = "error[E0425]: cannot find value `x`\n --> src/main.rs:3:5\n";
    vec![
        ServiceReport {
            name: "api".into(),
            kind: ServiceKind::Source,
            ready: true,
            endpoint: Some("http://127.0.0.1:20001".into()),
            pid: Some(4711),
            pod: None,
            message: None,
            generation: None,
            resources: vec![resource("api", Phase::Running, None)],
        },
        ServiceReport {
            name: "worker".into(),
            kind: ServiceKind::Source,
            ready: false,
            endpoint: None,
            pid: None,
            pod: None,
            message: Some(error.into()),
            generation: None,
            resources: vec![
                resource("worker", Phase::Waiting, None),
                resource("worker-live-binary", Phase::Failed, None),
            ],
        },
    ]
}

fn states() -> Vec<StateReport> {
    vec![
        state("preflight", "done", Some(0.04), None),
        state(
            "substrate_init",
            "skipped",
            None,
            Some("no `substrate` in the session file"),
        ),
        state("session_ready", "done", Some(2.0), None),
    ]
}

fn up() -> UpReport {
    UpReport {
        session: "demo".into(),
        owner: "local".into(),
        folder: ".cp9/demo".into(),
        states: states(),
        services: services(),
        handoff: None,
    }
}

#[test]
fn up_names_red_services_and_what_to_type() {
    assert_data_eq!(
        plain(&super::up::up(&up())),
        str![[r#"
session demo of local in .cp9/demo: 1 of 2 services not ready
SERVICE  KIND    STATUS  ENDPOINT                PROCESS
api      source  ready   http://127.0.0.1:20001  pid 4711
worker   source  failed  -                       -
    error[E0425]: cannot find value `x`
     --> src/main.rs:3:5
hint: `cp9 logs worker` shows what it wrote

"#]]
    );
    let mut ready = up();
    ready.services.truncate(1);
    assert_data_eq!(
        plain(&super::up::up(&ready)),
        str![[r#"
session demo of local in .cp9/demo: ready
SERVICE  KIND    STATUS  ENDPOINT                PROCESS
api      source  ready   http://127.0.0.1:20001  pid 4711

"#]]
    );
    let handoff = UpReport {
        handoff: Some("cp9 controller serve --folder .cp9/demo".into()),
        services: Vec::new(),
        ..up()
    };
    assert_data_eq!(
        plain(&super::up::up(&handoff)),
        str![[r#"
session demo of local in .cp9/demo: prepared
no services
the controller was not started; start it with
    cp9 controller serve --folder .cp9/demo

"#]]
    );
    let failed = UpReport {
        states: vec![state("preflight", "failed", Some(0.0), None)],
        services: Vec::new(),
        ..up()
    };
    assert_data_eq!(
        plain(&super::up::up(&failed)),
        str![[r#"
session demo stopped at preflight; what ran before goes on as it was

"#]]
    );
}

#[test]
fn status_is_a_table_with_reasons_below() {
    let report = StatusReport {
        identity: None,
        session: "demo".into(),
        owner: "local".into(),
        folder: ".cp9/demo".into(),
        states: states(),
        services: services(),
        controller: ControllerReport {
            kind: "embedded".into(),
            state: "dead".into(),
            pid: None,
            hint: Some("`cp9 up` starts it again".into()),
        },
        last_active: Some("2026-01-02T03:04:05Z".into()),
        expires_in: Some(-7200),
    };
    assert_data_eq!(
        plain(&super::status::status(&report)),
        str![[r#"
session demo of local in .cp9/demo
last used 2026-01-02T03:04:05Z, expired 2 h 0 min ago

STATE           STATUS   TIME   MESSAGE
preflight       done     0.0 s
substrate_init  skipped  -      no `substrate` in the session file
session_ready   done     2.0 s

SERVICE  KIND    STATUS  ENDPOINT                PROCESS
api      source  ready   http://127.0.0.1:20001  pid 4711
worker   source  failed  -                       -
    error[E0425]: cannot find value `x`
     --> src/main.rs:3:5

controller embedded: dead
hint: `cp9 up` starts it again

"#]]
    );
}

fn stage(name: &str, deleted: u32, survived: u32) -> StageReport {
    StageReport {
        name: name.into(),
        deleted,
        survived,
        error: None,
        skipped: None,
    }
}

fn destroyed(stages: Vec<StageReport>, survivors: Vec<Survivor>) -> DestroyReport {
    DestroyReport {
        session: "demo".into(),
        stages,
        survivors,
        ..DestroyReport::default()
    }
}

fn survivor() -> Survivor {
    Survivor {
        region: "box".into(),
        ..Survivor::local(
            "process",
            "4711",
            "does not end".into(),
            "kill -9 4711".into(),
        )
    }
}

#[test]
fn destroy_counts_per_stage_and_lists_survivors() {
    let stages = vec![
        stage("controller", 1, 0),
        StageReport {
            error: Some("no answer".into()),
            ..stage("host", 2, 1)
        },
        StageReport {
            skipped: Some("no cloud".into()),
            ..stage("substrate", 0, 0)
        },
        stage("post-scan", 0, 1),
    ];
    let report = destroyed(stages, vec![survivor()]);
    assert_data_eq!(
        plain(&super::destroy::destroy(&report)),
        str![[r#"
controller: deleted 1, 0 survived
host: deleted 2, 1 survived (error: no answer)
substrate: skipped (no cloud)
post-scan: deleted 0, 1 survived
POST-SCAN FAIL:
  local box: process 4711 (does not end)
    kill -9 4711
hint: cp9 destroy --session demo to re-run

"#]]
    );
}

#[test]
fn destroy_claims_success_only_when_the_scan_was_empty() {
    let mut report = destroyed(
        vec![stage("controller", 1, 0), stage("post-scan", 0, 0)],
        Vec::new(),
    );
    report.record = Some(".cp9/.destroyed/demo.json".into());
    assert_data_eq!(
        plain(&super::destroy::destroy(&report)),
        str![[r#"
controller: deleted 1, 0 survived
post-scan: deleted 0, 0 survived
session demo destroyed: nothing is left; record: .cp9/.destroyed/demo.json

"#]]
    );

    let claims = |stages| {
        super::destroy::destroy(&destroyed(stages, Vec::new())).contains("nothing is left")
    };
    assert!(claims(vec![stage("post-scan", 0, 0)]));
    assert!(
        !claims(vec![stage("host", 1, 1), stage("post-scan", 0, 0)]),
        "a stage counts a survivor"
    );
    assert!(
        !claims(vec![stage("controller", 1, 0)]),
        "nobody has looked"
    );
    let blind = StageReport {
        error: Some("denied".into()),
        ..stage("post-scan", 0, 0)
    };
    assert!(!claims(vec![blind]), "looking failed");

    report.already = true;
    assert_data_eq!(
        plain(&super::destroy::destroy(&report)),
        str![[r#"
session demo was already destroyed

"#]]
    );
}

#[test]
fn small_reports_are_a_line_each() {
    let pause = |stopped, released| {
        super::pause::pause(&PauseReport {
            session: "demo".into(),
            stopped,
            released,
        })
    };
    assert_data_eq!(
        pause(0, vec![]),
        str![[r#"
session demo was not running; `cp9 up` resumes it

"#]]
    );
    assert_data_eq!(
        pause(1, vec![20001, 20002]),
        str![[r#"
session demo paused: stopped 1 process, released port 20001, 20002
`cp9 up` resumes it

"#]]
    );
    let line = LogLine {
        time: "2026-01-02T03:04:05.678Z".into(),
        service: "api".into(),
        resource: "api".into(),
        level: Some("error".into()),
        trace_id: None,
        text: "no \u{1b}[2Jway".into(),
    };
    assert_data_eq!(
        plain(&super::logs::line(&line)),
        str!["[2026-01-02T03:04:05.678Z] api | no /u{1b}[2Jway"]
    );
    assert_data_eq!(
        plain(&super::states::line(&state(
            "host_ready",
            "done",
            Some(0.1),
            None
        ))),
        str!["host_ready done (0.1 s)"]
    );
    let failed = resource(
        "api-live-binary",
        Phase::Failed,
        Some("\nerror: expected `;`\n --> x.rs"),
    );
    assert_data_eq!(
        plain(&super::services::line(&failed)),
        str!["api-live-binary failed (1.2 s): error: expected `;`"]
    );
    assert_data_eq!(
        plain(&super::services::line(&resource(
            "api",
            Phase::Running,
            None
        ))),
        str!["api running"]
    );
}

#[test]
fn errors_show_causes_problems_and_hints() {
    let problem = cp9_model::Diagnostic {
        code: "CP9-C004".into(),
        severity: cp9_model::diagnostic::Severity::Error,
        message: "unknown key `servces`".into(),
        file: "cp9.yaml".into(),
        line: 3,
        column: 1,
        pointer: "/servces".into(),
        help: Some("did you mean `services`?".into()),
        snippet: " --> cp9.yaml:3:1\n  |\n3 | servces:\n  | ^^^^^^^".into(),
    };
    let body = ErrorBody {
        category: "config".into(),
        code: "config-invalid".into(),
        message: "1 problem in `cp9.yaml`".into(),
        causes: vec!["first".into(), "second".into()],
        hints: vec!["mend the places above".into()],
        diagnostics: vec![problem],
        exit: 3,
    };
    assert_data_eq!(
        plain(&crate::error::render(&body)),
        str![[r#"
error: 1 problem in `cp9.yaml`
caused by: first
caused by: second

error[CP9-C004]: unknown key `servces`
 --> cp9.yaml:3:1
  |
3 | servces:
  | ^^^^^^^
  at: /servces
  help: did you mean `services`?

hint: mend the places above
"#]]
    );
    let short = ErrorBody {
        causes: vec![],
        hints: vec![],
        diagnostics: vec![],
        ..body
    };
    assert_data_eq!(
        plain(&crate::error::render(&short)),
        str!["error: 1 problem in `cp9.yaml`"]
    );
}
