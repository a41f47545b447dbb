//! Stubs as processes, and what their names mean to others.

use cp9_model::devplan::Check;
use serde_json::json;

use super::{Case, api};

const SERVICE: &str = "apiVersion: v1
kind: Service
metadata: {name: account-svc}
spec: {selector: {app: api}, ports: [{port: 80, targetPort: 8080}]}
";

fn swagger() -> serde_json::Value {
    json!({"kind": "swagger", "definition": "/w/contracts/Account.JSON"})
}

fn recorder(output: &str) -> serde_json::Value {
    json!({"kind": "metering-recorder", "output": output})
}

#[test]
fn a_definition_is_served_from_a_copy() {
    let case = Case::default().stub("account-svc", swagger());
    let rendered = case.definition("account-svc", "{}").good();
    let workload = rendered.of("account-svc");
    assert_eq!(
        workload.argv.join(" "),
        "${bin}/cp9 stub serve --name account-svc --kind openapi --definition ${session}/run/account-svc/root/openapi.json --listen 127.0.0.1:20001"
    );
    let file = &workload.files[0];
    assert_eq!(file.path, "${session}/run/account-svc/root/openapi.json");
    assert_eq!(
        file.source,
        "${session}/tilt/inputs/stubs/account-svc/openapi.json"
    );
    assert_eq!(rendered.input("stubs/account-svc/openapi.json"), "{}");
    assert_eq!(workload.env["HOME"], "${session}/run/account-svc/home");
    assert_eq!(workload.env["CP9_SESSION_ID"], "f00d");
    assert_eq!((workload.grace_seconds, workload.built), (2, false));
    assert_eq!(workload.links, ["http://127.0.0.1:20001"]);
    let path = match &workload.ready.check {
        Check::Http {
            path, port: 20_001, ..
        } => path.as_str(),
        other => panic!("{other:?}"),
    };
    assert_eq!(path, "/__cp9/healthz");
    let report = &rendered.report.services[0];
    assert_eq!(report.stub.as_deref(), Some("openapi"));
    assert_eq!(report.files, ["/w/contracts/Account.JSON"]);
}

#[test]
fn without_a_definition_a_stub_is_permissive_and_the_report_says_so() {
    for (stub, word, note) in [
        (
            swagger(),
            "permissive (definition missing)",
            "`/w/contracts/Account.JSON` does not exist",
        ),
        (
            json!({"kind": "undefined"}),
            "permissive (definition missing)",
            "names no definition",
        ),
        (json!({"kind": "permissive"}), "permissive", ""),
    ] {
        let rendered = Case::default().stub("s", stub).good();
        assert_eq!(
            rendered.of("s").argv[3..].join(" "),
            "--name s --kind permissive --listen 127.0.0.1:20001"
        );
        let report = &rendered.report.services[0];
        assert_eq!(report.stub.as_deref(), Some(word));
        assert!(report.notes.join("").contains(note), "{report:?}");
        assert!(rendered.inputs.is_empty() && rendered.of("s").files.is_empty());
    }
}

#[test]
fn recordings_lie_below_the_stubs_of_the_session_or_outside_of_it() {
    let rendered = Case::default()
        .stub("in", recorder("/w/.cp9/demo/stubs/in/payloads.jsonl"))
        .stub("out", recorder("/srv/rec/p.jsonl"))
        .good();
    let of = |name: &str| {
        let workload = rendered.of(name);
        (workload.argv[5..11].join(" "), workload.dirs.join(" "))
    };
    let (argv, dirs) = of("in");
    assert_eq!(
        argv,
        "--kind metering-recorder --output ${session}/stubs/in/payloads.jsonl --hide-secrets-of ${session}"
    );
    assert!(dirs.contains("${session}/stubs/in"), "{dirs}");
    let (argv, dirs) = of("out");
    assert!(argv.contains("--output /srv/rec/p.jsonl --hide"), "{argv}");
    assert!(!dirs.contains("/srv"), "a folder of the user's own: {dirs}");
    for output in [
        "/w/.cp9/demo/state.json",
        "/w/.cp9/demo/stubs",
        "/w/.cp9/demo",
        "/w/cp9.yaml",
    ] {
        let found = Case::default().stub("rec", recorder(output)).problem();
        assert_eq!(found.pointer, "/services/stub/rec/output");
        assert!(found.message.contains(output), "{}", found.message);
    }
}

#[test]
fn every_port_of_a_stub_is_its_one_port() {
    let env = "env: [
        {name: A, value: 'account-svc:8443'}, {name: B, value: 'https://account-svc/v1'},
        {name: C, value: 'http://account-svc.shop:90/x'}, {name: D, value: 'account-svc.shop.svc.cluster.local:1'},
        {name: E, value: 'account-svc.io:443'}, {name: F, value: 'account-svc'}]";
    let rendered = api(json!({}), env, "", "")
        .stub("account-svc", json!({"kind": "permissive"}))
        .good();
    let env = &rendered.of("api").env;
    for (name, expected) in [
        ("A", "127.0.0.1:20001"),
        ("B", "https://127.0.0.1:20001/v1"),
        ("C", "http://127.0.0.1:20001/x"),
        ("D", "127.0.0.1:20001"),
        ("E", "account-svc.io:443"),
        ("F", "account-svc"),
        ("ACCOUNT_SVC_SERVICE_HOST", "127.0.0.1"),
        ("ACCOUNT_SVC_SERVICE_PORT", "20001"),
    ] {
        assert_eq!(env[name], expected, "{name}");
    }
}

#[test]
fn a_stub_shares_its_name_only_with_services_that_lead_nowhere() {
    let stub = json!({"kind": "permissive"});
    let own = "ports: [{containerPort: 8080}], env: [{name: P, value: ':8080'}]";
    let found = api(json!({}), own, "", SERVICE)
        .stub("account-svc", stub.clone())
        .problem();
    assert_eq!(
        (found.code.as_str(), found.pointer.as_str()),
        ("CP9-C321", "/metadata/name")
    );
    assert!(
        found.message.contains("leads to service `api`"),
        "{}",
        found.message
    );
    let other = SERVICE.replace("app: api", "app: account");
    let rendered = api(
        json!({}),
        "env: [{name: A, value: 'account-svc:80'}]",
        "",
        &other,
    )
    .stub("account-svc", stub.clone())
    .good();
    assert_eq!(rendered.of("api").env["A"], "127.0.0.1:20001");
    // Left out by an override, the Service is no obstacle.
    let delete = "{apiVersion: v1, kind: Service, metadata: {name: account-svc}, $patch: delete}";
    let rendered = api(json!({}), own, "", SERVICE)
        .stub("account-svc", stub)
        .overrides("api", "o.yaml", delete)
        .good();
    assert_eq!(
        rendered.report.services[1].overrides[0].target,
        "Service/account-svc"
    );
}

#[test]
fn protos_and_stubs_without_a_port_are_refused() {
    let found = Case::default()
        .stub("grpc", json!({"kind": "proto", "definition": "/w/a.proto"}))
        .problem();
    assert!(
        found.message.contains("not in this build yet"),
        "{}",
        found.message
    );
}
