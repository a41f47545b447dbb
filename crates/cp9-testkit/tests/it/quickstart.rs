//! Builds the quickstart's services by bare `rustc`, without warnings, and lets them talk.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
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

/// A service that answers everything with `{}`, and what it was asked, each with its trace id.
struct Recorder {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let asked = answer(&stream.expect("a connection"));
                record.lock().expect("unbroken").push(asked);
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("unbroken").clone()
    }
}

/// Reads a request, answers it, and gives its first line, trace id and body.
fn answer(mut stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let found = head.iter().find_map(|line| line.strip_prefix(name));
        found.unwrap_or_default().trim().to_owned()
    };
    let mut body = vec![0; header("Content-Length:").parse().unwrap_or(0)];
    reader.read_exact(&mut body).expect("the whole body");
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        .expect("a reader");
    let body = String::from_utf8(body).expect("UTF-8");
    format!("{} {} {body}", head[0], header("X-Trace-Id:"))
}

/// The worker with what it needs to start; three services of these addresses stand behind it.
fn worker(sandbox: &Sandbox, addresses: [&str; 3]) -> Invocation {
    sandbox.write("worker.conf", "tiers = starter\nregions = local-1\n");
    let [account, metering, billing] = addresses;
    sandbox
        .program(build(sandbox, "cluster-worker"))
        .args(["--config=worker.conf"])
        .env("ACCOUNT_ADDR", account)
        .env("METERING_URL", format!("http://{metering}"))
        .env("BILLING_URL", format!("http://{billing}/v1"))
        .env("PROVIDER_TOKEN", "demo-token")
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
    let behind = [Recorder::start(), Recorder::start(), Recorder::start()];
    let worker = worker(&sandbox, behind.each_ref().map(|one| one.address.as_str()));
    let api = build(&sandbox, "cluster-api");
    let (api_port, worker_port) = (free_port(), free_port());
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
    for (recorder, what) in behind.iter().zip([
        "GET /v1/accounts/demo/quota HTTP/1.0 trace-7 ",
        "POST /v1/events HTTP/1.0 trace-7 {\"event\":\"cluster.created\"",
        "POST /v1/invoices HTTP/1.0 trace-7 {\"account\":\"demo\"",
    ]) {
        let asked = recorder.asked();
        assert!(asked.len() == 1 && asked[0].starts_with(what), "{asked:?}");
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
    let _running_api = start(api, api_port);
    let list = http_get(&url).expect("an answer").json();
    assert_eq!(list["clusters"][0]["name"], "first");

    drop(running_worker);
    let reply = http_get(&url).expect("an answer");
    assert_eq!(
        (reply.status, reply.json()["error"].is_string()),
        (502, true)
    );
}

#[test]
fn a_missing_service_behind_is_named_and_the_token_is_not() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    let behind = [Recorder::start(), Recorder::start()];
    let nobody = format!("127.0.0.1:{}", free_port());
    let port = free_port();
    let worker = worker(&sandbox, [&behind[0].address, &behind[1].address, &nobody]);
    let running = start(worker, port);
    let url = format!("http://127.0.0.1:{port}/internal/clusters");
    let reply = http_post(&url, r#"{"project":"demo","name":"first"}"#).expect("an answer");
    assert_eq!(reply.status, 502);
    assert_eq!(
        reply.json()["error"],
        "billing-svc does not answer as it should"
    );
    let list = format!("http://127.0.0.1:{port}/internal/projects/demo/clusters");
    let list = http_get(&list).expect("an answer").json();
    assert_eq!(
        list["clusters"],
        serde_json::json!([]),
        "nothing is left of it"
    );
    let output = running.stdout();
    assert!(output.contains("PROVIDER_TOKEN is set"), "{output}");
    assert!(!output.contains("demo-token"), "{output}");
}

#[test]
fn a_service_that_cannot_start_says_why() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    let worker = worker(&sandbox, ["a:1", "b:1", "c:1"]);
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
    for variable in [
        "PROVIDER_TOKEN",
        "ACCOUNT_ADDR",
        "METERING_URL",
        "BILLING_URL",
    ] {
        let run = worker.clone().without_env(variable).run().assert_code(1);
        let last = run.json_lines().pop().expect("a line");
        assert_eq!(last["msg"], format!("{variable} is not set"));
    }
}

#[test]
fn shared_files_are_the_same_in_both_services() {
    let sandbox = Sandbox::quickstart("/nowhere/cp9");
    for file in ["http.rs", "json.rs", "log.rs", "message.rs"] {
        let of = |service: &str| sandbox.read(&format!("services/{service}/src/{file}"));
        assert_eq!(of("cluster-api"), of("cluster-worker"), "{file}");
    }
}
