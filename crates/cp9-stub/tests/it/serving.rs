//! What every client may rely on: routes, methods, health, trace ids, limits, and an end in order.

use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use cp9_stub::{Config, Kind, StubError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::Served;

/// A folder, and a configuration whose definition lies in it.
fn openapi(definition: &str) -> (tempfile::TempDir, Config) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = Utf8PathBuf::from_path_buf(dir.path().join("api.yaml")).expect("UTF-8");
    std::fs::write(&path, definition).expect("it is written");
    let mut config = Config::new(Kind::OpenApi);
    config.definition = Some(path);
    config.name = "account-svc".into();
    (dir, config)
}

const ACCOUNTS: &str = "
openapi: 3.0.3
info: {title: Accounts, version: '1'}
servers: [{url: https://accounts.example.com/v1}]
paths:
  /accounts/{id}:
    get:
      operationId: getAccount
      responses:
        200:
          description: it
          content:
            application/json:
              schema: {type: object, required: [id, state], properties: {id: {type: string, format: uuid}, state: {type: string, enum: [active, closed]}}}
            text/plain:
              schema: {type: string, enum: [active]}
    delete: {responses: {204: {description: gone}}}
  /accounts/{id}:close:
    post: {responses: {202: {description: taken, headers: {Location: {required: true, schema: {type: string, format: uri}}}}}}
";

const ID: &str = "00000000-0000-0000-0000-000000000000";

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("JSON")
}

#[tokio::test]
async fn operations_answer_below_the_server_and_at_the_root() {
    let (_dir, config) = openapi(ACCOUNTS);
    let served = Served::start(&config).await.expect("it is served");
    let mut client = served.client().await;
    for path in [
        "/accounts/7",
        "/v1/accounts/7",
        "/v1/accounts/7/",
        "/accounts/a%2Fb?x=1",
    ] {
        let reply = client.send("GET", path).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, "application/json"),
            "{path}"
        );
        assert_eq!(json_of(&reply.body), json!({ "id": ID, "state": "active" }));
    }
    let closed = client.send("POST", "/v1/accounts/7:close").await;
    assert_eq!(
        (closed.status, closed.header("location")),
        (202, "http://localhost/")
    );
    let gone = client.send("DELETE", "/accounts/7").await;
    assert_eq!((gone.status, gone.body.len()), (204, 0));
    let accept = [("accept", "text/plain;q=0.9, application/json;q=0.1")];
    let text = client.request("GET", "/accounts/7", &accept, b"").await;
    assert_eq!(
        (text.header("content-type"), text.body.as_slice()),
        ("text/plain", b"active".as_slice())
    );
    drop(client);
    served.stop().await;
}

#[tokio::test]
async fn what_the_contract_does_not_have_is_told_in_json() {
    let (_dir, config) = openapi(ACCOUNTS);
    let served = Served::start(&config).await.expect("it is served");
    let mut client = served.client().await;
    for path in [
        "/nowhere",
        "/v1",
        "/v1/v1/accounts/7",
        "/v1accounts/7",
        "//",
    ] {
        let reply = client.send("GET", path).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(json_of(&reply.body)["path"], path);
    }
    let reply = client.send("PUT", "/v1/accounts/7").await;
    assert_eq!(
        (reply.status, reply.header("allow")),
        (405, "DELETE, GET, HEAD, OPTIONS")
    );
    assert_eq!(json_of(&reply.body)["method"], "PUT");
    let options = client.send("OPTIONS", "/accounts/7").await;
    assert_eq!(
        (options.status, options.header("allow")),
        (204, "DELETE, GET, HEAD, OPTIONS")
    );
    let head = client.send("HEAD", "/accounts/7").await;
    let get = client.send("GET", "/accounts/7").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), get.body.len().to_string());
    drop(client);
    served.stop().await;
}

#[tokio::test]
async fn health_is_the_contract_s_own_where_it_has_it() {
    let ours = json!({ "status": "ok" });
    let own = "
openapi: 3.0.0
paths:
  /healthz:
    get: {responses: {200: {description: '', content: {application/json: {schema: {type: boolean}}}}}}
";
    let parameter = own.replace("/healthz", "/{anything}");
    for (definition, usual) in [
        (own, json!(false)),
        (&parameter, ours.clone()),
        (ACCOUNTS, ours.clone()),
    ] {
        let (_dir, config) = openapi(definition);
        let served = Served::start(&config).await.expect("it is served");
        let mut client = served.client().await;
        let reply = client.send("GET", "/healthz").await;
        assert_eq!((reply.status, json_of(&reply.body)), (200, usual));
        let reply = client.send("GET", "/__cp9/healthz").await;
        assert_eq!((reply.status, json_of(&reply.body)), (200, ours.clone()));
        assert_eq!(client.send("HEAD", "/healthz").await.status, 200);
        drop(client);
        served.stop().await;
    }
}

#[tokio::test]
async fn trace_ids_come_back_and_stand_in_the_log() {
    let (_dir, mut config) = openapi(ACCOUNTS);
    config.trace_header = "x-request-id".into();
    let served = Served::start(&config).await.expect("it is served");
    let mut client = served.client().await;
    let own = client
        .request("GET", "/accounts/7", &[("X-Request-Id", "abc")], b"")
        .await;
    assert_eq!(own.header("x-request-id"), "abc");
    let made = client
        .send("GET", "/nowhere")
        .await
        .header("x-request-id")
        .to_owned();
    assert_eq!(made.len(), 32);
    client.send("GET", "/__cp9/healthz").await;
    let lines = served.logged.lines();
    let told: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!([
                line["level"],
                line["msg"],
                line["service"],
                line["trace_id"],
                line["method"],
                line["path"],
                line["status"]
            ])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!([
                "info",
                "request",
                "account-svc",
                "abc",
                "GET",
                "/accounts/7",
                200
            ]),
            json!([
                "warn",
                "request",
                "account-svc",
                made,
                "GET",
                "/nowhere",
                404
            ]),
        ]
    );
    let time = lines[0]["time"].as_str().expect("a time");
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    drop(client);
    served.stop().await;
}

#[tokio::test]
async fn a_permissive_stub_accepts_everything() {
    let served = Served::start(&Config::new(Kind::Permissive))
        .await
        .expect("it is served");
    let mut client = served.client().await;
    for (method, path) in [
        ("GET", "/"),
        ("POST", "/a/b?c"),
        ("PATCH", "/x"),
        ("BREW", "/pot"),
    ] {
        let reply = client.request(method, path, &[], b"anything").await;
        assert_eq!(
            (reply.status, json_of(&reply.body)),
            (200, json!({})),
            "{method}"
        );
    }
    drop(client);
    served.stop().await;
}

/// Sends raw bytes and reads until the other side ends.
async fn raw(served: &Served, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(served.address)
        .await
        .expect("it listens");
    // The server may answer and hang up before it was told everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn what_is_too_large_is_refused_early() {
    let served = Served::start(&Config::new(Kind::Permissive))
        .await
        .expect("it is served");
    let huge = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1073741824\r\n\r\n";
    let answer = raw(&served, huge.as_bytes()).await;
    assert!(
        answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"),
        "{answer}"
    );
    let mut chunked =
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n500000\r\n".to_vec();
    chunked.extend(vec![b'x'; 0x0050_0000]);
    let answer = raw(&served, &chunked).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 413 "),
        "{answer}"
    );
    let head = format!(
        "GET / HTTP/1.1\r\nhost: x\r\nx-long: {}\r\n\r\n",
        "a".repeat(70_000)
    );
    let answer = raw(&served, head.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
        "{answer}"
    );
    let answer = raw(&served, b"\x00\x01 nonsense\r\n\r\n").await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 400 "),
        "{answer}"
    );
    let mut client = served.client().await;
    let most = vec![b'x'; 4 * 1024 * 1024];
    assert_eq!(client.request("POST", "/", &[], &most).await.status, 200);
    drop(client);
    served.stop().await;
}

#[tokio::test]
async fn the_end_waits_for_no_idle_client_and_not_long_for_a_slow_one() {
    let served = Served::start(&Config::new(Kind::Permissive))
        .await
        .expect("it is served");
    let address = served.address;
    let mut idle = served.client().await;
    idle.send("GET", "/").await;
    let started = Instant::now();
    served.stop().await;
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "an idle client was waited for"
    );
    assert!(
        TcpStream::connect(address).await.is_err(),
        "the port is still taken"
    );

    let served = Served::start(&Config::new(Kind::Permissive))
        .await
        .expect("it is served");
    let mut slow = TcpStream::connect(served.address)
        .await
        .expect("it listens");
    let half = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf";
    slow.write_all(half).await.expect("it is sent");
    let started = Instant::now();
    served.stop().await;
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "a slow client was waited for"
    );
}

#[tokio::test]
async fn what_cannot_be_served_is_named() {
    let code = |config: Config| async move {
        match Served::start(&config).await {
            Ok(_) => "served",
            Err(error) => error.code(),
        }
    };
    let changed = |kind: Kind, change: fn(&mut Config)| {
        let mut config = Config::new(kind);
        change(&mut config);
        config
    };
    for (config, expected) in [
        (Config::new(Kind::OpenApi), "stub-option-missing"),
        (Config::new(Kind::BillingRecorder), "stub-option-missing"),
        (
            changed(Kind::Permissive, |c| c.definition = Some("x".into())),
            "stub-option-surplus",
        ),
        (
            changed(Kind::Permissive, |c| c.output = Some("x".into())),
            "stub-option-surplus",
        ),
        (
            changed(Kind::OpenApi, |c| {
                c.definition = Some("/nowhere/x.yaml".into());
            }),
            "stub-definition-unreadable",
        ),
        (
            changed(Kind::MeteringRecorder, |c| {
                c.output = Some("/proc/x/y".into());
            }),
            "stub-output",
        ),
        (
            changed(Kind::Permissive, |c| c.listen = "nonsense".into()),
            "stub-listen",
        ),
        (
            changed(Kind::Permissive, |c| c.trace_header = "a b".into()),
            "stub-trace-header",
        ),
    ] {
        assert_eq!(code(config).await, expected);
    }
    let (_dir, config) = openapi("openapi: 3.1.0");
    let error = Served::start(&config).await.err().expect("it is refused");
    assert!(matches!(error, StubError::Version { .. }), "{error}");
    let taken = Served::start(&Config::new(Kind::Permissive))
        .await
        .expect("it is served");
    let mut second = Config::new(Kind::Permissive);
    second.listen = taken.address.to_string();
    assert_eq!(code(second).await, "stub-listen");
    taken.stop().await;
}
