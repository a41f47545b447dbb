//! Which workload and container is the service, and what a process cannot have.

use serde_json::json;

use super::{Case, api, deployment};

#[test]
fn parts_a_process_cannot_have_are_refused_unless_ignored() {
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\n";
    let hook = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h, annotations: {argocd.argoproj.io/hook: PreSync}}\n";
    let second = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api-worker}\n";
    let mount = "volumeMounts: [{name: v, mountPath: /v}]";
    for (container, pod, more, word, message) in [
        (
            "",
            "initContainers: [{name: wait}]",
            "",
            "initContainers/wait",
            "init container `wait`",
        ),
        ("", "", job, "Job/migrate", "`Job/migrate`"),
        ("", "", hook, "ConfigMap/h", "hook `ConfigMap/h`"),
        (
            "",
            "",
            second,
            "Deployment/api-worker",
            "a second workload `Deployment/api-worker`",
        ),
        (
            mount,
            "volumes: [{name: v, hostPath: {path: /x}}]",
            "",
            "volumes/v",
            "hostPath volume `v`",
        ),
        (
            mount,
            "volumes: [{name: v, nfs: {server: x}}]",
            "",
            "volumes/v",
            "nfs volume `v`",
        ),
        (
            "lifecycle: {postStart: {exec: {command: [x]}}}",
            "",
            "",
            "lifecycle/postStart",
            "a postStart hook",
        ),
    ] {
        let found = api(json!({}), container, pod, more).problem();
        assert_eq!(found.code, "CP9-C312");
        assert!(found.message.starts_with(message), "{}", found.message);
        assert!(
            found
                .help
                .as_deref()
                .is_some_and(|help| help.contains(&format!("add `{word}` to `run.ignore`")))
        );
        let rendered = api(json!({"ignore": [word]}), container, pod, more).good();
        assert_eq!(rendered.report.services[0].ignored, [word]);
    }
}

#[test]
fn the_container_is_the_named_one_or_the_only_one() {
    let two = deployment("}, {name: proxy", "", "");
    let found = Case::default().source("api", json!({}), &two).problem();
    assert!(
        found.message.starts_with("container `proxy`"),
        "{}",
        found.message
    );
    let rendered = Case::default()
        .source("api", json!({"ignore": ["containers/*"]}), &two)
        .good();
    assert_eq!(
        rendered.report.services[0].container.as_deref(),
        Some("api")
    );
    let run = json!({"container": "proxy", "ignore": ["containers/api"]});
    let rendered = Case::default().source("api", run, &two).good();
    assert_eq!(
        rendered.report.services[0].container.as_deref(),
        Some("proxy")
    );

    let unnamed = two.replace("[{name: api,", "[{name: main,");
    let found = Case::default().source("api", json!({}), &unnamed).problem();
    assert_eq!(found.code, "CP9-C311");
    assert_eq!(
        found.help.as_deref(),
        Some("set `run.container` to one of `main`, `proxy`")
    );
    let found = Case::default()
        .source("api", json!({"container": "x"}), &unnamed)
        .problem();
    assert_eq!(found.message, "Deployment/api has no container `x`");
}

#[test]
fn a_folder_without_a_workload_is_refused() {
    let found = Case::default()
        .source("api", json!({}), "kind: Service\nmetadata: {name: api}\n")
        .problem();
    assert_eq!(found.code, "CP9-C311");
    assert!(
        found
            .help
            .as_deref()
            .is_some_and(|help| help.contains("`Service`"))
    );
    let empty = deployment("", "", "").replace("containers: [", "containers: [], x: [");
    assert!(
        Case::default()
            .source("api", json!({}), &empty)
            .problem()
            .message
            .contains("has no container")
    );
}

#[test]
fn a_stateful_set_runs_once_and_keeps_its_claims() {
    let text = "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  template:
    spec: {securityContext: {}, containers: [{name: db, resources: {}, volumeMounts: [{name: data, mountPath: /var/lib/db}], args: [--dir=/var/lib/db]}]}
  volumeClaimTemplates: [{metadata: {name: data}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
";
    let rendered = Case::default().source("db", json!({}), text).good();
    let workload = rendered.of("db");
    assert_eq!(
        workload.argv,
        ["${binary}", "--dir=${session}/run/db/root/var/lib/db"]
    );
    assert!(
        workload
            .dirs
            .contains(&"${session}/run/db/root/var/lib/db".to_owned())
    );
    assert_eq!(
        rendered.report.services[0].not_applied,
        [
            "PodDisruptionBudget/db",
            "spec/template/spec/securityContext",
            "container resources",
            "spec/replicas 3 (one process)"
        ]
    );
}

#[test]
fn live_services_need_a_command() {
    let mut config = super::config(
        &json!({"live": {"api": {"app": {"name": "api", "registry": "r.yaml", "env": "dev"}}}}),
    );
    let mut tree = crate::AppTree::default();
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: api}\nspec: {source: {path: dev}}\n";
    tree.files.insert("r.yaml".into(), application.into());
    tree.files
        .insert("dev/all.yaml".into(), deployment("", "", "").into_bytes());
    let inputs = crate::argo::load(&config, &tree).expect("it loads");
    let translate = |config: &_| {
        let graph = crate::graph::build(config, &inputs).expect("a graph");
        super::translate(&super::Session {
            config,
            graph: &graph,
            inputs: &inputs,
            host: &cp9_model::host::HostFacts {
                api_version: String::new(),
                mode: String::new(),
                id: String::new(),
                socket: String::new(),
                ports: std::collections::BTreeMap::new(),
            },
            scope: &super::Scope {
                owner: super::Owner::new("a"),
                session: "demo".parse().expect("a name"),
                id: String::new(),
            },
            secrets: &std::collections::BTreeMap::new(),
            definitions: &std::collections::BTreeMap::new(),
            aws: None,
            folder: "/w/.cp9/demo".into(),
        })
    };
    let found = translate(&config).expect_err("no command");
    assert_eq!(
        (found[0].code.as_str(), found[0].pointer.as_str()),
        ("CP9-C313", "/services/live/api")
    );
    let live = config.services.live.values_mut().next().expect("one");
    live.run.command = Some(vec![
        "nginx".to_owned(),
        "-g".to_owned(),
        "daemon off;".to_owned(),
    ]);
    assert_eq!(
        translate(&config).expect("a command").of("api").argv,
        ["nginx", "-g", "daemon off;"]
    );
}

#[test]
fn unused_patterns_are_shown() {
    let rendered = api(json!({"ignore": ["Job/none"]}), "", "", "").good();
    assert_eq!(
        rendered.report.services[0].notes,
        ["`Job/none` in `run.ignore` covers nothing"]
    );
}
