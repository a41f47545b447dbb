//! Reading of applications: what is found, what is refused, and what each problem says.

use cp9_model::Diagnostic;
use cp9_model::config::resolved::ResolvedConfig;
use serde_json::json;

use super::*;
use crate::process::tests::config;

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: api, namespace: argocd}
spec:
  source:
    repoURL: https://git.example.com/x.git
    targetRevision: main
    path: envs/dev/api
  destination: {namespace: shop}
";
const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn session(app: serde_json::Value) -> ResolvedConfig {
    let mut services = json!({"live": {"api": {}}});
    services["live"]["api"]["app"] = app;
    config(&services)
}

fn api() -> ResolvedConfig {
    session(json!({"name": "api", "registry": "registry/api.yaml", "env": "dev"}))
}

fn tree(application: &str, files: &[(&str, &str)]) -> AppTree {
    let mut tree = AppTree::default();
    let mut add = |path: &str, text: &str| tree.files.insert(path.into(), text.as_bytes().to_vec());
    add("registry/api.yaml", application);
    for (path, text) in files {
        add(path, text);
    }
    tree
}

fn one(application: &str, files: &[(&str, &str)]) -> ServiceInput {
    let inputs = load(&api(), &tree(application, files)).expect("an application that loads");
    inputs.into_iter().next().expect("one service")
}

fn refused(application: &str, files: &[(&str, &str)]) -> Diagnostic {
    let found = load(&api(), &tree(application, files)).expect_err("a refusal");
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().expect("one problem")
}

fn words(input: &ServiceInput) -> Vec<String> {
    input.manifests.iter().map(Manifest::word).collect()
}

#[test]
fn an_application_brings_the_objects_of_its_folder() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {kind: Service, metadata: {name: s}}\n- {kind: Secret, metadata: {name: t}}\n";
    let input = one(
        APPLICATION,
        &[
            (
                "envs/dev/api/b.yaml",
                &format!("# c\n---\n{MAP}---\n---\nkind: Service\nmetadata: {{name: x}}\n"),
            ),
            ("envs/dev/api/a.yml", list),
            (
                "envs/dev/api/c.json",
                "{\"kind\": \"Secret\", \"metadata\": {\"name\": \"j\"}}",
            ),
            ("envs/dev/api/notes.txt", "kind: Pod"),
            ("envs/dev/api/values.yaml", "replicas: 3\n"),
            ("envs/dev/api/broken.yaml", "a: {{ b }}: [\n"),
            (
                "envs/dev/api/skip.yaml",
                &format!("# +argocd:skip-file-rendering\n{MAP}"),
            ),
            ("envs/dev/api/deeper/d.yaml", MAP),
            ("envs/dev/apis/e.yaml", MAP),
        ],
    );
    assert_eq!(
        words(&input),
        [
            "Service/s",
            "Secret/t",
            "ConfigMap/a",
            "Service/x",
            "Secret/j"
        ]
    );
    assert_eq!(
        input.skipped,
        [
            "envs/dev/api/broken.yaml",
            "envs/dev/api/skip.yaml",
            "envs/dev/api/values.yaml"
        ]
    );
    assert_eq!(
        (input.app.path.as_str(), input.app.kind.as_str()),
        ("envs/dev/api", "Application")
    );
    assert_eq!(input.namespace.as_deref(), Some("shop"));
    assert_eq!(
        input.repo_url.as_deref(),
        Some("https://git.example.com/x.git")
    );
}

#[test]
fn directory_options_select_as_argo_cd_does() {
    let options = "    directory: {recurse: true, include: '{*.yaml,sub/*}', exclude: 'sub/no*'}\n  destination";
    let application = APPLICATION.replace("  destination", options);
    let input = one(
        &application,
        &[
            ("envs/dev/api/a.yaml", "kind: A\n"),
            ("envs/dev/api/a.json", "{\"kind\": \"No\"}"),
            ("envs/dev/api/sub/b.json", "{\"kind\": \"B\"}"),
            ("envs/dev/api/sub/deep/c.yaml", "kind: C\n"),
            ("envs/dev/api/sub/no.yaml", "kind: No\n"),
        ],
    );
    assert_eq!(
        input
            .manifests
            .iter()
            .map(Manifest::kind)
            .collect::<Vec<_>>(),
        ["A", "B", "C"]
    );
}

#[test]
fn files_beside_the_manifests_change_the_source_but_not_where_it_is() {
    let overlay = "path: elsewhere\ndirectory: {recurse: true}\n";
    let files = [
        ("envs/dev/api/.argocd-source-api.yaml", overlay),
        ("envs/dev/api/.argocd-source.yaml", "just text"),
        ("envs/dev/api/sub/a.yaml", "kind: A\n"),
    ];
    assert_eq!(one(APPLICATION, &files).manifests.len(), 1);
}

#[test]
fn other_kinds_of_sources_are_named() {
    let map = [("envs/dev/api/a.yaml", MAP)];
    for (from, to, named) in [
        (
            "  source:\n",
            "  sources: [{path: x}]\n  source:\n",
            "multi-source",
        ),
        ("    path:", "    helm: {releaseName: x}\n    path:", "helm"),
        (
            "    path:",
            "    kustomize: {namePrefix: x}\n    path:",
            "kustomize",
        ),
        ("    path:", "    plugin: {name: x}\n    path:", "plugin"),
        ("    path:", "    chart: x\n    path:", "helm chart"),
        (
            "    path:",
            "    directory: {jsonnet: {tlas: [{name: x}]}}\n    path:",
            "jsonnet",
        ),
        (
            "  source:\n",
            "  sourceHydrator: {drySource: {path: x}}\n  source:\n",
            "source hydrator",
        ),
    ] {
        let found = refused(&APPLICATION.replace(from, to), &map);
        assert_eq!(found.code, "CP9-C303");
        assert!(
            found.message.contains(&format!("{named} sources")),
            "{}",
            found.message
        );
        assert!(
            found.file.ends_with("registry/api.yaml") && found.line > 1,
            "{found:?}"
        );
    }
    let both = APPLICATION.replace(
        "    path:",
        "    helm: {releaseName: x}\n    plugin: {name: y}\n    path:",
    );
    assert!(refused(&both, &map).message.contains("more than one kind"));
}

#[test]
fn empty_blocks_decide_nothing_and_files_do() {
    let map = ("envs/dev/api/a.yaml", MAP);
    let empty = APPLICATION.replace(
        "    path:",
        "    helm: {}\n    kustomize: {images: []}\n    path:",
    );
    assert_eq!(one(&empty, &[map]).manifests.len(), 1);
    let found = refused(
        APPLICATION,
        &[map, ("envs/dev/api/my-Chart.yaml", "name: x\n")],
    );
    assert!(
        found.message.contains("takes it for helm"),
        "{}",
        found.message
    );
    let found = refused(
        APPLICATION,
        &[map, ("envs/dev/api/Kustomization", "kind: x\n")],
    );
    assert!(
        found.message.contains("takes it for kustomize"),
        "{}",
        found.message
    );
    let below = [map, ("envs/dev/api/sub/Chart.yaml", "name: x\n")];
    assert_eq!(one(APPLICATION, &below).manifests.len(), 1);
}

#[test]
fn an_application_set_is_not_in_this_build() {
    let found = refused(
        &APPLICATION.replace("kind: Application", "kind: ApplicationSet"),
        &[],
    );
    assert_eq!(found.code, "CP9-C303");
    assert_eq!((found.line, found.column), (2, 1));
    assert!(
        found.snippet.contains("kind: ApplicationSet"),
        "{}",
        found.snippet
    );
}

#[test]
fn names_are_never_inferred() {
    let wanted =
        session(json!({"name": "crossplane", "registry": "registry/api.yaml", "env": "dev"}));
    let text = APPLICATION.replace("name: api", "name: nextgen-crossplane");
    let found = load(&wanted, &tree(&text, &[])).expect_err("unknown");
    assert_eq!(
        found[0].message,
        "no application `crossplane` in `registry/api.yaml`; found `nextgen-crossplane`"
    );
    let help = found[0].help.as_deref().expect("help");
    assert!(
        help.contains("set `services.live.api.app.name: nextgen-crossplane`"),
        "{help}"
    );
    assert_eq!(found[0].pointer, "/services/live/api/app/name");
}

#[test]
fn objects_of_other_groups_are_no_applications() {
    let text =
        "apiVersion: capabilities.3scale.net/v1beta1\nkind: Application\nmetadata: {name: api}\n";
    assert!(refused(text, &[]).message.contains("found none"));
    let twice = format!("{APPLICATION}---\n{APPLICATION}");
    let found = refused(&twice, &[]);
    assert!(
        found.message.contains("defined twice") && found.line == 13,
        "{found:?}"
    );
    let old = refused(&APPLICATION.replace("v1alpha1", "v1"), &[]);
    assert!(old.message.contains("not of version"), "{}", old.message);
}

#[test]
fn a_registry_file_must_be_there() {
    let wanted = session(json!({"name": "api", "registry": "registry/apo.yaml", "env": "dev"}));
    let found = load(&wanted, &tree(APPLICATION, &[])).expect_err("no file");
    assert_eq!(found[0].code, "CP9-C301");
    assert_eq!(
        found[0].help.as_deref(),
        Some("did you mean `registry/api.yaml`?")
    );
    let outside = session(json!({"name": "api", "registry": "../x.yaml", "env": "dev"}));
    assert_eq!(
        load(&outside, &tree(APPLICATION, &[])).expect_err("outside")[0].code,
        "CP9-C301"
    );
}

#[test]
fn the_path_must_lie_in_the_environment() {
    let files = [
        ("envs/prod/api/a.yaml", MAP),
        ("envs/stage/api/a.yaml", MAP),
    ];
    let found = refused(&APPLICATION.replace("envs/dev", "envs/prod"), &files);
    assert_eq!(
        found.message,
        "path `envs/prod/api` of application `api` has no segment `dev`"
    );
    assert!(
        found
            .help
            .as_deref()
            .is_some_and(|help| help.contains("environments found: `prod`, `stage`")),
        "{found:?}"
    );
    let found = refused(APPLICATION, &files);
    assert!(
        found.message.contains("is no folder with files"),
        "{}",
        found.message
    );
    let found = refused(
        &APPLICATION.replace("envs/dev/api", "../envs/dev/api"),
        &files,
    );
    assert!(
        found.message.contains("leaves the app-delivery root"),
        "{}",
        found.message
    );
}

#[test]
fn what_speaks_of_an_object_must_be_one() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\njust: data\n";
    let found = refused(APPLICATION, &[("envs/dev/api/a.yaml", text)]);
    assert_eq!((found.code.as_str(), found.line), ("CP9-C305", 5));
    let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n";
    let found = refused(APPLICATION, &[("envs/dev/api/a.yaml", broken)]);
    assert!(
        found.file.ends_with("/w/app-delivery/envs/dev/api/a.yaml"),
        "{found:?}"
    );
}

#[test]
fn json_must_be_one_object() {
    for text in ["[]", "{} {}", "{\"a\": 1}", "", "{\"kind\": 1}"] {
        let found = refused(APPLICATION, &[("envs/dev/api/a.json", text)]);
        assert_eq!(found.code, "CP9-C305", "{text}");
    }
    let found = refused(APPLICATION, &[("envs/dev/api/a.jsonnet", "{}")]);
    assert!(found.message.contains("jsonnet"), "{}", found.message);
}

#[test]
fn broken_globs_have_a_place() {
    let application = APPLICATION.replace("    path:", "    directory: {include: '{a'}\n    path:");
    let found = refused(&application, &[("envs/dev/api/a.yaml", MAP)]);
    assert!(
        found.message.contains("`include: {a` is no glob"),
        "{}",
        found.message
    );
    assert_eq!(found.line, 8);
}

#[test]
fn overrides_lie_over_the_objects_and_missing_files_are_named() {
    let app = json!({"name": "api", "registry": "registry/api.yaml", "env": "dev"});
    let mut config = session(app);
    let service = config.services.live.values_mut().next().expect("one");
    service.overrides = vec!["/w/one.yaml".to_owned(), "/w/two.yaml".to_owned()];
    let mut tree = tree(APPLICATION, &[("envs/dev/api/a.yaml", MAP)]);
    let patch = |data: &str| format!("{MAP}data: {{{data}}}\n").into_bytes();
    tree.overrides
        .insert("/w/one.yaml".into(), patch("A: '1', B: '1'"));
    let found = load(&config, &tree).expect_err("a file is missing");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].pointer, "/services/live/api/overrides/1");
    assert!(
        found[0].message.contains("`/w/two.yaml`"),
        "{}",
        found[0].message
    );
    tree.overrides.insert("/w/two.yaml".into(), patch("B: '2'"));
    let inputs = load(&config, &tree).expect("it loads");
    assert_eq!(
        inputs[0].manifests[0].value["data"],
        json!({"A": "1", "B": "2"})
    );
    let files: Vec<&str> = inputs[0]
        .overrides
        .iter()
        .map(|one| one.file.as_str())
        .collect();
    assert_eq!(files, ["/w/one.yaml", "/w/two.yaml"]);
}

#[test]
fn all_problems_come_at_once() {
    let wanted = config(&json!({"live": {
        "a": {"app": {"name": "a", "registry": "registry/a.yaml", "env": "dev"}},
        "b": {"app": {"name": "b", "registry": "registry/b.yaml", "env": "dev"}},
    }}));
    assert_eq!(
        load(&wanted, &AppTree::default()).expect_err("both").len(),
        2
    );
}

proptest::proptest! {
    #[test]
    fn no_input_panics(application in "\\PC{0,200}", manifest in "[-a-z:{}\\[\\]\"'\n #&*!|>]{0,80}") {
        let _ = load(&api(), &tree(&application, &[("envs/dev/api/a.yaml", &manifest)]));
        let _ = load(&api(), &tree(APPLICATION, &[("envs/dev/api/a.yaml", &manifest), ("envs/dev/api/a.json", &manifest)]));
    }
}
