//! Variables as the kubelet makes them, secrets apart.

use serde_json::json;

use super::{Case, api};

const OBJECTS: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {LEVEL: info, MODE: fast, 'not=a name': x}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"stringData\":\"hunter2\"}'}}
data: {TOKEN: aHVudGVyMg==}
stringData: {URL: 'http://worker:80/hunter2'}
";

#[test]
fn the_process_starts_from_a_private_environment() {
    let rendered = api(json!({}), "env: []", "", "").good();
    let env = &rendered.of("api").env;
    assert_eq!(env["HOME"], "${session}/run/api/home");
    assert_eq!(env["TMPDIR"], "${session}/run/api/tmp");
    assert_eq!(
        (env["LANG"].as_str(), env["TZ"].as_str()),
        ("C.UTF-8", "UTC")
    );
    assert_eq!(env["CP9_SESSION"], "demo");
    assert_eq!(env["CP9_SESSION_OWNER"], "alice@example.com");
    assert_eq!(env["CP9_SESSION_ID"], "f00d");
    assert_eq!(rendered.of("api").cwd, "${session}/run/api/work");
    assert_eq!(rendered.of("api").argv, ["${binary}"]);
}

#[test]
fn later_sources_win_and_references_expand() {
    let container = "
        envFrom: [{configMapRef: {name: settings}, prefix: P_}, {configMapRef: {name: none, optional: true}}],
        env: [{name: A, value: 'a'}, {name: B, value: '$(A)-$(P_LEVEL)-$$(A)-$(NO)'}, {name: P_MODE, value: slow},
              {name: C, valueFrom: {configMapKeyRef: {name: settings, key: MODE}}},
              {name: D, valueFrom: {configMapKeyRef: {name: settings, key: no, optional: true}}},
              {name: E}, {name: HOME, value: /home/x}]";
    let rendered = api(
        json!({"env": {"A": "own", "Z": "$(A)"}}),
        container,
        "",
        OBJECTS,
    )
    .good();
    let env = &rendered.of("api").env;
    assert_eq!(env["B"], "a-info-$(A)-$(NO)");
    assert_eq!(
        (
            env["P_LEVEL"].as_str(),
            env["P_MODE"].as_str(),
            env["C"].as_str()
        ),
        ("info", "slow", "fast")
    );
    assert_eq!(
        (env["A"].as_str(), env["Z"].as_str(), env["E"].as_str()),
        ("own", "$(A)", "")
    );
    assert_eq!(env["HOME"], "/home/x");
    assert!(!env.contains_key("D"));
    let report = &rendered.report.services[0];
    assert!(
        report.notes.iter().any(|note| note.contains("not=a name")),
        "{:?}",
        report.notes
    );
}

#[test]
fn secrets_never_stand_in_the_plan() {
    let container = "
        envFrom: [{secretRef: {name: keys}}],
        env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: TOKEN}}}, {name: DSN, value: 'u:$(KEY)@h'}]";
    let rendered = api(json!({}), container, "", OBJECTS).good();
    let workload = rendered.of("api");
    assert!(!format!("{workload:?}{:?}", rendered.report).contains("hunter2"));
    assert!(
        rendered
            .inputs
            .values()
            .all(|bytes| !String::from_utf8_lossy(bytes).contains("hunter2"))
    );
    assert_eq!(
        rendered.secret_file("api"),
        "DSN=u:hunter2@h\nKEY=hunter2\nTOKEN=hunter2\nURL=http://worker:80/hunter2\n"
    );
    let names: Vec<&str> = workload
        .secrets
        .iter()
        .map(|secret| secret.env.as_str())
        .collect();
    assert_eq!(names, ["TOKEN", "URL", "KEY", "DSN"]);
    assert_eq!(workload.secrets[0].file, "${session}/secrets/api.env");
    assert!(!format!("{rendered:?}").contains("hunter2"));
}

#[test]
fn names_in_secrets_are_rewritten_too() {
    let worker = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: worker}\nspec: {template: {metadata: {labels: {app: w}}, spec: {containers: [{name: w, env: [{name: PORT, value: '9000'}]}]}}}\n---\nkind: Service\nmetadata: {name: worker}\nspec: {selector: {app: w}, ports: [{port: 80, targetPort: 9000}]}\n";
    let rendered = api(
        json!({}),
        "envFrom: [{secretRef: {name: keys}}]",
        "",
        OBJECTS,
    )
    .source("worker", json!({}), worker)
    .good();
    assert!(
        rendered
            .secret_file("api")
            .contains("URL=http://127.0.0.1:20001/hunter2\n")
    );
    assert_eq!(rendered.of("api").env["WORKER_SERVICE_PORT"], "20001");
    assert_eq!(rendered.of("api").env["WORKER_SERVICE_HOST"], "127.0.0.1");
    assert_eq!(rendered.of("worker").env["PORT"], "20001");
    let rewrite = &rendered.report.services[0].rewrites[0];
    assert_eq!(
        (
            rewrite.place.as_str(),
            rewrite.from.as_str(),
            rewrite.to.as_str()
        ),
        ("env/URL", "worker:80", "127.0.0.1:20001")
    );
}

#[test]
fn secrets_of_the_session_file_win_over_the_manifest() {
    let secret = "kind: Secret\nmetadata: {name: api}\nstringData: {A: manifest, B: manifest}\n";
    let env = "env: [{name: A, valueFrom: {secretKeyRef: {name: api, key: A}}}, {name: B, valueFrom: {secretKeyRef: {name: api, key: B}}}]";
    let rendered = api(json!({}), env, "", secret)
        .secret("api", "A", "session")
        .good();
    assert_eq!(rendered.secret_file("api"), "A=session\nB=manifest\n");
}

#[test]
fn secrets_nobody_refers_to_come_by_env_from() {
    let case = api(json!({}), "env: [{name: A, value: explicit}]", "", "");
    let rendered = case
        .secret("api", "A", "hidden-a")
        .secret("api", "B", "hidden-b")
        .good();
    assert_eq!(rendered.of("api").env["A"], "explicit");
    assert_eq!(rendered.secret_file("api"), "B=hidden-b\n");
    assert!(
        rendered
            .input("patches/api/patch.yaml")
            .contains("envFrom:")
    );
    assert!(!rendered.input("patches/api/patch.yaml").contains("hidden"));
}

#[test]
fn fields_have_fixed_local_values() {
    let fields = [
        "metadata.name",
        "metadata.namespace",
        "status.podIP",
        "spec.nodeName",
        "metadata.labels['app']",
    ];
    let env: Vec<String> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            format!("{{name: F{index}, valueFrom: {{fieldRef: {{fieldPath: \"{field}\"}}}}}}")
        })
        .collect();
    let rendered = api(json!({}), &format!("env: [{}]", env.join(", ")), "", "").good();
    let values: Vec<&str> = (0..5)
        .map(|index| rendered.of("api").env[&format!("F{index}")].as_str())
        .collect();
    assert_eq!(values, ["api-0", "demo", "127.0.0.1", "localhost", "api"]);
}

#[test]
fn wrong_variables_have_a_place_and_a_remedy() {
    for (env, message) in [
        (
            "{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}",
            "takes its value from `resourceFieldRef`",
        ),
        (
            "{name: A, valueFrom: {fieldRef: {fieldPath: spec.hostname}}}",
            "takes field `spec.hostname`",
        ),
        (
            "{name: A, valueFrom: {secretKeyRef: {name: none, key: K}}}",
            "Secret `none` is not in the manifests",
        ),
        (
            "{name: A, valueFrom: {configMapKeyRef: {name: settings, key: K}}}",
            "ConfigMap `settings` has no key `K`",
        ),
        ("{name: A, value: 8080}", "the value of `A` is not text"),
        ("{name: 'A=B', value: x}", "`A=B` is no name of a variable"),
        ("{name: A, value: '${session}/x'}", "holds `${session}`"),
    ] {
        let found = api(json!({}), &format!("env: [{env}]"), "", OBJECTS).problem();
        assert!(found.message.contains(message), "{}", found.message);
        assert_eq!((found.code.as_str(), found.line), ("CP9-C316", 8));
        assert!(found.file.ends_with("envs/dev/api/all.yaml") && found.help.is_some());
    }
}

#[test]
fn a_secret_must_fit_the_env_file() {
    let secret = "kind: Secret\nmetadata: {name: pem}\nstringData: {KEY: \"a\\nb\"}\n";
    let found = api(json!({}), "envFrom: [{secretRef: {name: pem}}]", "", secret).problem();
    assert_eq!(found.code, "CP9-C318");
    assert!(
        found.message.contains("secret variable `KEY`"),
        "{}",
        found.message
    );
}

#[test]
fn snippets_do_not_show_secrets() {
    let list =
        "kind: Secret\nmetadata: {name: s}\nstringData: {A: hunter2hunter2}\ntype: {bad: x}\n---\n";
    let more = format!("{list}kind: Job\nmetadata: {{name: j}}\n");
    let found = api(json!({}), "env: []", "", &more).problem();
    assert!(!found.snippet.contains("hunter2"), "{}", found.snippet);
}

#[test]
fn an_argument_with_a_secret_is_refused() {
    let container = "args: ['--token=$(KEY)'], env: [{name: KEY, valueFrom: {secretKeyRef: {name: keys, key: TOKEN}}}]";
    let found = api(json!({}), container, "", OBJECTS).problem();
    assert_eq!(found.code, "CP9-C313");
    assert!(
        found.message.contains("`--token=$(KEY)` holds a secret"),
        "{}",
        found.message
    );
}

#[test]
fn commands_expand_and_shells_are_refused() {
    let rendered = api(
        json!({}),
        "args: ['-l', '$(L)', '$$(L)'], env: [{name: L, value: info}]",
        "",
        "",
    )
    .good();
    assert_eq!(rendered.of("api").argv, ["${binary}", "-l", "info", "$(L)"]);
    let manifests =
        super::deployment("env: []", "", "").replace("[/app/api]", "[/bin/sh, -c, /app/api]");
    let found = Case::default()
        .source("api", json!({}), &manifests)
        .problem();
    assert!(
        found.message.contains("started by a shell, `/bin/sh`"),
        "{}",
        found.message
    );
    let run = json!({"command": ["${binary}", "--x"], "workdir": "/srv/x"});
    let rendered = Case::default().source("api", run, &manifests).good();
    assert_eq!(rendered.of("api").argv, ["${binary}", "--x"]);
    assert!(rendered.of("api").built && rendered.of("api").cwd == "/srv/x");
    let rendered = Case::default()
        .source("api", json!({"command": ["python3", "a.py"]}), &manifests)
        .good();
    assert!(!rendered.of("api").built);
}

#[test]
fn objects_of_other_services_are_found_after_ones_own() {
    let other = super::deployment("env: []", "", OBJECTS).replace("name: api", "name: other");
    let env = "env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: MODE}}}]";
    let rendered = api(json!({}), env, "", "")
        .source("other", json!({}), &other)
        .good();
    assert_eq!(rendered.of("api").env["A"], "fast");
}
