//! Build recipes and what a process resource takes from its service.

use std::collections::BTreeMap;

use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::ResourceKind;
use serde_json::{Value, json};

use super::*;
use crate::process::tests::Case;

fn plan(build: Value, run: Value, cargo: Option<CargoTarget>) -> Result<DevPlan, Vec<Diagnostic>> {
    let case = Case::default().source("api", run, &crate::process::tests::deployment("", "", ""));
    let mut config: ResolvedConfig = case.config();
    let service = config
        .services
        .source
        .values_mut()
        .next()
        .expect("one service");
    service.build = serde_json::from_value(build).expect("a build block");
    let (name, graph) = (
        config.services.source.keys().next().expect("one").clone(),
        case.graph(),
    );
    let sources = BTreeMap::from([(name.clone(), "/w/src/api".into())]);
    let roots = Roots {
        session: "/w/.cp9/demo".into(),
        cache: "/c".into(),
        exe: "/opt/cp9".into(),
        sources,
    };
    super::build(
        &config,
        &graph,
        &case.good(),
        &roots,
        &BTreeMap::from([(name, cargo)]),
    )
}

fn argv(build: Value, cargo: Option<CargoTarget>) -> String {
    let plan = plan(build, json!({}), cargo).expect("a plan");
    let resource = plan.resource("api-live-binary").expect("a build");
    format!("{} @ {}", resource.argv.join(" "), resource.watch.join(" "))
}

#[test]
fn each_language_has_its_recipe() {
    assert_eq!(
        argv(json!({"main": "cmd/api/main.go"}), None),
        "go build -o ${output} ./cmd/api @ ${src-api}"
    );
    assert_eq!(
        argv(json!({"main": "main.go"}), None),
        "go build -o ${output} . @ ${src-api}"
    );
    let rustc = "rustc --edition=2021 --crate-name api -C opt-level=1 -o ${output}";
    assert_eq!(
        argv(json!({"main": "a/src/main.rs"}), None),
        format!("{rustc} a/src/main.rs @ ${{src-api}}/a")
    );
    assert_eq!(
        argv(json!({"main": "a/main.rs"}), None),
        format!("{rustc} a/main.rs @ ${{src-api}}/a")
    );
    let cargo = CargoTarget {
        manifest: "Cargo.toml".into(),
        bin: "tool".to_owned(),
    };
    assert_eq!(
        argv(json!({"main": "src/main.rs"}), Some(cargo)),
        "cargo rustc --manifest-path Cargo.toml --target-dir ${cache}/cargo/demo-api --bin tool -- --emit=link=${output} @ ${src-api}"
    );
    assert_eq!(
        argv(
            json!({"command": ["make", "OUT=${output}", "-C", "/w/src/api/x"]}),
            None
        ),
        "make OUT=${output} -C ${src-api}/x @ ${src-api}"
    );
}

#[test]
fn what_cannot_be_built_is_refused() {
    for (build, pointer) in [
        (
            json!({"main": "main.py"}),
            "/services/source/api/build/main",
        ),
        (
            json!({"main": "../main.go"}),
            "/services/source/api/build/main",
        ),
        (
            json!({"main": "Makefile"}),
            "/services/source/api/build/main",
        ),
        (json!({}), "/services/source/api/build"),
    ] {
        let found = plan(build, json!({}), None).expect_err("a refusal");
        assert_eq!(
            (found[0].code.as_str(), found[0].pointer.as_str()),
            ("CP9-C319", pointer)
        );
    }
}

#[test]
fn builds_ignore_what_cp9_and_git_write() {
    let plan = plan(
        json!({"main": "main.go", "ignore": ["docs/"]}),
        json!({}),
        None,
    )
    .expect("a plan");
    let resource = plan.resource("api-live-binary").expect("a build");
    assert_eq!(resource.ignore, [".git/", ".cp9/", "docs/"]);
    assert_eq!(resource.env["CP9_SESSION_ID"], "f00d");
    assert_eq!(
        resource.binary.as_deref(),
        Some("${session}/.cp9-build/api/live/service")
    );
}

#[test]
fn a_process_runs_the_binary_or_follows_it() {
    let build = json!({"main": "main.go"});
    let with = plan(build.clone(), json!({}), None).expect("a plan");
    let serve = with.resource("api").expect("a process");
    assert_eq!(
        (serve.kind, serve.deps.as_slice()),
        (ResourceKind::Serve, &["api-live-binary".to_owned()][..])
    );
    assert_eq!(serve.argv, ["${session}/.cp9-build/api/live/service"]);
    assert!(serve.binary.is_some() && serve.watch.is_empty());
    let run = json!({"command": ["python3", "/w/src/api/run.py"], "workdir": "/srv/elsewhere"});
    let without = plan(build, run, None).expect("a plan");
    let serve = without.resource("api").expect("a process");
    assert_eq!(serve.argv, ["python3", "${src-api}/run.py"]);
    assert_eq!(serve.cwd, "${work-api}");
    assert_eq!(without.expand(&serve.cwd), "/srv/elsewhere");
    assert_eq!((serve.binary.as_deref(), serve.watch.len()), (None, 1));
}

#[test]
fn a_wrapper_can_start_the_binary() {
    let run = json!({"command": ["nice", "${binary}", "--x"]});
    let plan = plan(json!({"main": "main.go"}), run, None).expect("a plan");
    let serve = plan.resource("api").expect("a process");
    assert_eq!(
        serve.argv,
        ["nice", "${session}/.cp9-build/api/live/service", "--x"]
    );
    assert_eq!(serve.watch, ["${session}/.cp9-build/api/live/service"]);
}

#[test]
fn a_plan_reads_back_as_it_was_written() {
    let plan = plan(json!({"main": "main.go"}), json!({}), None).expect("a plan");
    let text = serde_json::to_string(&plan).expect("plain data");
    assert_eq!(
        serde_json::from_str::<DevPlan>(&text).expect("the same plan"),
        plan
    );
}
