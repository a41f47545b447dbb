//! Recorders under load: every request is one whole line, whatever comes at once.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use cp9_stub::{Config, Kind};
use serde_json::{Value, json};

use crate::client::Served;

fn recorder(kind: Kind) -> (tempfile::TempDir, Utf8PathBuf, Config) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("stubs/metering/payloads.jsonl");
    let path = Utf8PathBuf::from_path_buf(path).expect("UTF-8");
    let mut config = Config::new(kind);
    config.output = Some(path.clone());
    (dir, path, config)
}

fn lines(path: &Utf8PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a recording");
    assert!(text.is_empty() || text.ends_with('\n'), "a torn end");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a whole line"))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_requests_at_once_are_fifty_lines() {
    let (_dir, path, config) = recorder(Kind::MeteringRecorder);
    let served = Served::start(&config).await.expect("it is served");
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..50 {
        let mut client = served.client().await;
        tasks.spawn(async move {
            let body = json!({ "number": number, "filling": "x".repeat(50_000) }).to_string();
            let headers = [
                ("content-type", "application/json"),
                ("authorization", "Bearer s3cr3t"),
            ];
            let path = format!("/v1/meter?n={number}");
            let reply = client
                .request("POST", &path, &headers, body.as_bytes())
                .await;
            assert_eq!(
                (reply.status, reply.body.as_slice()),
                (200, b"{}".as_slice())
            );
            reply.header("x-trace-id").to_owned()
        });
    }
    let mut traces = BTreeSet::new();
    while let Some(trace) = tasks.join_next().await {
        traces.insert(trace.expect("it is answered"));
    }
    served.stop().await;
    let lines = lines(&path);
    let numbers: BTreeSet<u64> = lines
        .iter()
        .filter_map(|line| line["body"]["number"].as_u64())
        .collect();
    let recorded: BTreeSet<String> = lines
        .iter()
        .filter_map(|line| line["trace_id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(numbers, (0..50).collect());
    assert_eq!((lines.len(), &recorded), (50, &traces));
    assert!(
        lines
            .iter()
            .all(|line| line["headers"]["authorization"] == "***")
    );
}

#[tokio::test]
async fn probes_and_refused_bodies_are_not_recorded() {
    let (_dir, path, config) = recorder(Kind::BillingRecorder);
    let served = Served::start(&config).await.expect("it is served");
    let mut client = served.client().await;
    client.send("GET", "/healthz").await;
    client.send("GET", "/__cp9/healthz").await;
    client.send("GET", "/invoices").await;
    let paths: Vec<Value> = lines(&path)
        .into_iter()
        .map(|line| line["path"].clone())
        .collect();
    assert_eq!(paths, ["/invoices"]);
    let too_large = vec![b'x'; 4 * 1024 * 1024 + 1];
    let mut other = served.client().await;
    assert_eq!(
        other
            .request("POST", "/invoices", &[], &too_large)
            .await
            .status,
        413
    );
    assert_eq!(lines(&path).len(), 1);
    drop((client, other));
    served.stop().await;
}

#[tokio::test]
async fn a_recorder_with_a_contract_answers_as_the_contract() {
    let (dir, path, mut config) = recorder(Kind::BillingRecorder);
    let definition = Utf8PathBuf::from_path_buf(dir.path().join("api.json")).expect("UTF-8");
    let contract = json!({ "openapi": "3.0.3", "paths": { "/invoices": { "post": { "responses": {
        "201": { "description": "", "content": { "application/json": { "schema": { "type": "integer" } } } } } } } } });
    std::fs::write(&definition, contract.to_string()).expect("it is written");
    config.definition = Some(definition);
    let served = Served::start(&config).await.expect("it is served");
    let mut client = served.client().await;
    let taken = client
        .request("POST", "/invoices", &[], b"{\"total\": 1.10}")
        .await;
    assert_eq!(
        (taken.status, taken.body.as_slice()),
        (201, b"0".as_slice())
    );
    assert_eq!(client.send("GET", "/other").await.status, 404);
    let recorded = std::fs::read_to_string(&path).expect("a recording");
    assert!(recorded.contains(r#""body":{"total":1.10}"#), "{recorded}");
    assert_eq!(lines(&path).len(), 2);
    drop(client);
    served.stop().await;
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_accepted() {
    let (dir, path, config) = recorder(Kind::MeteringRecorder);
    let served = Served::start(&config).await.expect("it is served");
    let mut client = served.client().await;
    std::fs::remove_file(&path).expect("it is removed");
    std::fs::create_dir(&path).expect("a folder in its place");
    let reply = client.send("POST", "/v1/meter").await;
    assert_eq!(reply.status, 500);
    std::fs::remove_dir(&path).expect("it is removed");
    assert_eq!(client.send("POST", "/v1/meter").await.status, 200);
    assert_eq!(lines(&path).len(), 1);
    let told = served.logged.lines();
    let remark = told.first().expect("a remark");
    assert_eq!(remark["level"], "error");
    drop((client, dir));
    served.stop().await;
}
