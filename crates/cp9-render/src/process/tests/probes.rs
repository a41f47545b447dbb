//! Probes and grace.

use cp9_model::devplan::{Check, Probe};
use serde_json::json;

use super::api;

const PORTS: &str = "ports: [{name: http, containerPort: 8080}], args: [':8080']";

fn ready(container: &str) -> Probe {
    api(json!({}), container, "", "")
        .good()
        .of("api")
        .ready
        .clone()
}

#[test]
fn http_probes_keep_their_timing() {
    let container = format!(
        "{PORTS}, readinessProbe: {{httpGet: {{path: healthz, port: http, httpHeaders: [{{name: X, value: z}}]}}, periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 4, successThreshold: 2, initialDelaySeconds: 60}}, livenessProbe: {{tcpSocket: {{port: 8080}}}}"
    );
    let rendered = api(json!({}), &container, "", "").good();
    let headers = [("X".to_owned(), "z".to_owned())].into_iter().collect();
    let check = Check::Http {
        port: 20_001,
        path: "/healthz".to_owned(),
        headers,
    };
    let expected = Probe {
        check,
        period_seconds: 5,
        timeout_seconds: 2,
        failure_threshold: 4,
        success_threshold: 2,
    };
    assert_eq!(rendered.of("api").ready, expected);
    let live = rendered.of("api").live.clone().expect("a liveness probe");
    assert_eq!(
        (live.check, live.period_seconds, live.timeout_seconds),
        (Check::Tcp { port: 20_001 }, 10, 1)
    );
}

#[test]
fn without_a_probe_ports_or_time_decide() {
    assert_eq!(ready(PORTS).check, Check::Tcp { port: 20_001 });
    assert_eq!(ready("").check, Check::Alive { millis: 1000 });
    let several = "ports: [{containerPort: 8080}, {containerPort: 53, protocol: UDP}, {containerPort: 9090}], args: [':8080', ':53', ':9090']";
    let ports = vec![20_002, 20_003];
    assert_eq!(ready(several).check, Check::Ports { ports });
    let startup = format!("{PORTS}, startupProbe: {{httpGet: {{port: 8080}}}}");
    assert!(matches!(ready(&startup).check, Check::Http { .. }));
}

#[test]
fn exec_probes_are_rewritten() {
    let container =
        format!("{PORTS}, readinessProbe: {{exec: {{command: [check, 'localhost:8080']}}}}");
    assert_eq!(
        ready(&container).check,
        Check::Exec {
            argv: vec!["check".to_owned(), "127.0.0.1:20001".to_owned()]
        }
    );
}

#[test]
fn a_probe_port_counts_as_a_port_of_the_service() {
    let container = "args: [':9999'], readinessProbe: {tcpSocket: {port: 9999}}";
    assert_eq!(ready(container).check, Check::Tcp { port: 20_001 });
}

#[test]
fn other_probes_are_refused_unless_ignored() {
    for probe in [
        "{grpc: {port: 8080}}",
        "{httpGet: {port: http, scheme: HTTPS}}",
        "{httpGet: {port: http, host: example.com}}",
        "{httpGet: {port: nope}}",
        "{}",
    ] {
        let container = format!("{PORTS}, livenessProbe: {probe}");
        assert_eq!(
            api(json!({}), &container, "", "").problem().code,
            "CP9-C317",
            "{probe}"
        );
        let rendered = api(json!({"ignore": ["probes/liveness"]}), &container, "", "").good();
        assert_eq!(rendered.of("api").live, None);
    }
}

#[test]
fn grace_is_bounded() {
    for (pod, grace) in [
        ("", 5),
        ("terminationGracePeriodSeconds: 12", 12),
        ("terminationGracePeriodSeconds: 600", 30),
    ] {
        assert_eq!(
            api(json!({}), "", pod, "").good().of("api").grace_seconds,
            grace
        );
    }
}

#[test]
fn an_exec_probe_by_the_service_itself_runs_the_built_binary() {
    let container = format!("{PORTS}, readinessProbe: {{exec: {{command: [/app/api, health]}}}}");
    let argv = ["${session}/.cp9-build/api/live/service", "health"]
        .map(str::to_owned)
        .into();
    assert_eq!(ready(&container).check, Check::Exec { argv });
}
