//! Builds the quickstart's services by bare `rustc`, without warnings, and lets them talk.

use std::net::TcpListener;
use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_testkit::{Background, Invocation, Sandbox, http, http_get, http_post, wait_until};

const SOON: Duration = Duration::from_secs(20);

fn rustc(sandbox: &Sandbox, service: &str, product: &str) -> Invocation {
    let main = sandbox
        .path(&format!("services/{service}/src/main.rs"))
        .to_string();
    let product = sandbox.path(product).to_string();
    // The name alone, as cp9 calls it: the one of the test's toolchain comes first on PATH.
    sandbox
        .program("rustc")
        .args(["--edition", "2021", "-D", "warnings", "-o", &product, &main])
}

fn build(sandbox: &Sandbox, service: &str) -> Utf8PathBuf {
    rustc(sandbox, service, service).run().assert_code(0);
    sandbox.path(service)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn start(invocation: Invocation, port: u16) -> Background {
    let running = invocation
        .env("LISTEN_ADDR", format!("127.0.0.1:{port}"))
        .spawn();
    wait_until(SOON, "a healthy service", || {
        http_get(&format!("http://127.0.0.1:{port}/healthz"))
            .ok()
            .filter(|reply| reply.status == 200)
    });
    running
}

#[test]
fn the_services_pass_their_own_tests() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    for service in ["cluster-api", "cluster-worker"] {
        rustc(&sandbox, service, "unit")
            .args(["--test"])
            .run()
            .assert_code(0);
        let run = sandbox.program(sandbox.path("unit")).run().assert_code(0);
        assert!(run.stdout.contains("test result: ok"), "{}", run.stdout);
    }
}

#[test]
fn the_services_work_together() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    let (api, worker) = (
        build(&sandbox, "cluster-api"),
        build(&sandbox, "cluster-worker"),
    );
    let (api_port, worker_port) = (free_port(), free_port());
    sandbox.write("worker.conf", "tiers = starter\nregions = local-1\n");
    let worker = sandbox
        .program(worker)
        .args(["--config=worker.conf"])
        .env("PROVIDER_TOKEN", "demo-token");
    let running_worker = start(worker, worker_port);
    let api = sandbox
        .program(api)
        .env("WORKER_ADDR", format!("127.0.0.1:{worker_port}"));
    let running_api = start(api.clone(), api_port);

    let url = format!("http://127.0.0.1:{api_port}/v1beta1/projects/demo/clusters");
    let reply = http(
        "POST",
        &url,
        &[("X-Trace-Id", "trace-7")],
        r#"{"name":"first"}"#,
    )
    .expect("an answer");
    assert_eq!(
        (reply.status, reply.header("x-trace-id")),
        (201, Some("trace-7"))
    );
    assert_eq!(reply.json()["worker"]["tier"], "starter");
    assert_eq!(reply.json()["state"], "ACTIVE");
    for running in [&running_api, &running_worker] {
        let line = running.wait_stdout(SOON, "the trace id", |line| line.contains("trace-7"));
        let line: serde_json::Value = serde_json::from_str(&line).expect("a JSON line");
        assert_eq!(
            (line["level"].as_str(), line["trace_id"].as_str()),
            (Some("info"), Some("trace-7"))
        );
    }
    assert_eq!(
        http_post(&url, r#"{"name":"first"}"#)
            .expect("an answer")
            .status,
        409
    );
    assert_eq!(http_post(&url, "{").expect("an answer").status, 400);

    // A restart on the same port, as after an edit, loses nothing of the other service.
    running_api.terminate();
    assert_eq!(running_api.wait(SOON).signal, Some(15));
    let running_api = start(api, api_port);
    let list = http_get(&url).expect("an answer").json();
    assert_eq!(list["clusters"][0]["name"], "first");

    drop(running_worker);
    let reply = http_get(&url).expect("an answer");
    assert_eq!(
        (reply.status, reply.json()["error"].is_string()),
        (502, true)
    );
    assert!(!running_api.stdout().contains("demo-token"));
}

#[test]
fn a_service_that_cannot_start_says_why() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    let worker = sandbox.program(build(&sandbox, "cluster-worker"));
    let run = worker
        .clone()
        .args(["--config=absent.conf"])
        .run()
        .assert_code(1);
    assert!(
        run.json()["msg"]
            .as_str()
            .is_some_and(|msg| msg.contains("absent.conf")),
        "{}",
        run.stdout
    );
    let config = sandbox.path("worker.conf");
    sandbox.write("worker.conf", "tiers = a\nregions = b\n");
    let run = worker
        .args([format!("--config={config}")])
        .run()
        .assert_code(1);
    assert_eq!(run.json()["msg"], "PROVIDER_TOKEN is not set");
}

#[test]
fn shared_files_are_the_same_in_both_services() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    for file in ["json.rs", "log.rs", "server.rs"] {
        let of = |service: &str| sandbox.read(&format!("services/{service}/src/{file}"));
        assert_eq!(of("cluster-api"), of("cluster-worker"), "{file}");
    }
}
