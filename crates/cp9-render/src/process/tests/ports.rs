//! Own ports and where the process learns of them.

use serde_json::json;

use super::{Case, api, deployment};

const PORTS: &str = "ports: [{name: http, containerPort: 8080}]";
const SERVICE: &str = "kind: Service\nmetadata: {name: api}\nspec: {selector: {app: api}, ports: [{name: web, port: 80, targetPort: http}]}\n";

#[test]
fn a_port_reaches_the_process_by_every_allowed_way() {
    for container in [
        "env: [{name: PORT, value: '8080'}]",
        "env: [{name: ADDR, value: ':8080'}]",
        "env: [{name: ADDR, value: 'http://0.0.0.0:8080/x'}]",
        "args: ['--listen=localhost:8080']",
        "args: ['--port', '8080']",
        "envFrom: [{configMapRef: {name: c}}]",
    ] {
        let map = "kind: ConfigMap\nmetadata: {name: c}\ndata: {ADDR: ':8080'}\n";
        let rendered = api(json!({}), &format!("{PORTS}, {container}"), "", map).good();
        let workload = rendered.of("api");
        assert!(
            format!("{:?}{:?}", workload.env, workload.argv).contains("20001"),
            "{container}"
        );
        assert_eq!(
            (
                workload.ports[0].name.as_str(),
                workload.ports[0].container,
                workload.ports[0].host
            ),
            ("http", 8080, 20_001)
        );
        assert!(
            rendered.report.services[0]
                .rewrites
                .iter()
                .any(|rewrite| rewrite.rule == "port")
        );
    }
}

#[test]
fn a_port_told_to_nobody_is_refused_with_both_remedies() {
    let found = api(
        json!({}),
        &format!("{PORTS}, env: [{{name: OTHER, value: x8080}}]"),
        "",
        "",
    )
    .problem();
    assert_eq!((found.code.as_str(), found.line), ("CP9-C314", 8));
    let help = found.help.expect("a remedy");
    assert!(
        help.contains("run.ports: {http: VARIABLE}") && help.contains("`ports/http`"),
        "{help}"
    );
    let rendered = api(json!({"ports": {"http": "PORT"}}), PORTS, "", "").good();
    assert_eq!(rendered.of("api").env["PORT"], "20001");
    assert!(rendered.input("patches/api/patch.yaml").contains("PORT"));
    let rendered = api(json!({"ignore": ["ports/http"]}), PORTS, "", "").good();
    assert!(rendered.of("api").ports.is_empty());
    let found = api(
        json!({"ports": {"htp": "PORT"}}),
        &format!("{PORTS}, args: [':8080']"),
        "",
        "",
    )
    .problem();
    assert_eq!(found.pointer, "/services/source/api/run/ports/htp");
}

#[test]
fn an_exec_probe_tells_the_process_nothing() {
    let probe = "readinessProbe: {exec: {command: [curl, 'localhost:8080']}}";
    assert_eq!(
        api(json!({}), &format!("{PORTS}, {probe}"), "", "")
            .problem()
            .code,
        "CP9-C314"
    );
}

#[test]
fn target_ports_of_services_count() {
    let service = SERVICE.replace("targetPort: http", "targetPort: 9090");
    let rendered = api(json!({}), "args: [':9090']", "", &service).good();
    assert_eq!(rendered.of("api").ports[0].name, "port-9090");
    assert_eq!(rendered.of("api").links, ["http://127.0.0.1:20001"]);
    let other = SERVICE.replace("app: api", "app: other");
    assert!(
        api(json!({}), "", "", &other)
            .good()
            .of("api")
            .ports
            .is_empty()
    );
}

#[test]
fn names_lead_through_the_service_to_the_allocated_port() {
    let client = deployment(
        "env: [{name: A, value: 'http://api/x'}, {name: B, value: 'api.shop.svc:80'}, {name: C, value: 'api:81'}, {name: D, value: api}]",
        "",
        "",
    )
    .replace("name: api", "name: client");
    let rendered = api(json!({}), &format!("{PORTS}, args: [':8080']"), "", SERVICE)
        .source("client", json!({}), &client)
        .good();
    let env = &rendered.of("client").env;
    assert_eq!(
        (env["A"].as_str(), env["B"].as_str()),
        ("http://127.0.0.1:20001/x", "127.0.0.1:20001")
    );
    assert_eq!((env["C"].as_str(), env["D"].as_str()), ("api:81", "api"));
    let report = rendered
        .report
        .services
        .iter()
        .find(|service| service.name == "client")
        .expect("client");
    let left: Vec<&str> = report
        .not_rewritten
        .iter()
        .map(|rewrite| rewrite.from.as_str())
        .collect();
    assert_eq!(left, ["api:81", "api"]);
    assert_eq!(env["API_SERVICE_PORT_WEB"], "20001");
}

#[test]
fn service_links_can_be_switched_off() {
    let rendered = api(
        json!({}),
        &format!("{PORTS}, args: [':8080']"),
        "enableServiceLinks: false",
        SERVICE,
    )
    .good();
    assert!(!rendered.of("api").env.contains_key("API_SERVICE_HOST"));
}

#[test]
fn the_main_link_is_the_port_of_the_service() {
    let ports = "ports: [{name: grpc, containerPort: 9000}, {name: http, containerPort: 8080}], args: [':8080', ':9000']";
    let rendered = api(json!({}), ports, "", SERVICE).good();
    assert_eq!(
        rendered.of("api").links,
        ["http://127.0.0.1:20001", "grpc://127.0.0.1:20002"]
    );
}

#[test]
fn wanted_ports_never_fail() {
    let config = super::config(&json!({"source": {}}));
    assert!(super::ports_wanted(&[], &config).is_empty());
    let broken = Case::default().source(
        "api",
        json!({}),
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec: 5\n",
    );
    assert_eq!(broken.problem().code, "CP9-C311");
}
