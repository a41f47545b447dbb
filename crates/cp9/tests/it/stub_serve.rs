//! `cp9 stub serve`: a stub without a session.

use std::time::Duration;

use cp9_testkit::{Background, Sandbox, http_get, http_post};
use snapbox::{assert_data_eq, str};

use crate::prebuilt::CP9;

const LIMIT: Duration = Duration::from_secs(20);

const DEFINITION: &str = "openapi: 3.0.3
info: {title: accounts, version: '1'}
paths:
  /accounts/{id}:
    get:
      operationId: getAccount
      responses:
        200: {description: it, content: {application/json: {schema: {type: object, required: [plan], properties: {plan: {type: string, enum: [free, paid]}}}}}}
    delete: {responses: {204: {description: gone}}}
";

/// Two operations that nothing can answer.
const HOPELESS: &str = "
  /never:
    get: {operationId: never, responses: {200: {description: '', content: {application/json: {schema: {type: string, minLength: 2, maxLength: 1}}}}}}
    put: {responses: {200: {$ref: 'other.yaml#/Answer'}}}
";

fn sandbox(definition: &str) -> Sandbox {
    let sandbox = Sandbox::new(CP9);
    sandbox.write("api.yaml", definition);
    sandbox
}

/// Where a stub says that it listens.
fn url(stub: &Background) -> String {
    let line = stub.wait_stdout(LIMIT, "its address", |line| line.contains("listening on "));
    let (_, url) = line.split_once("listening on ").expect("an address");
    url.trim_end_matches(['"', '}']).to_owned()
}

#[test]
fn it_serves_until_it_is_told_to_end() {
    let sandbox = sandbox(DEFINITION);
    let stub = sandbox.cp9([
        "stub",
        "serve",
        "--definition",
        "api.yaml",
        "--name",
        "accounts",
    ]);
    let stub = stub.spawn();
    let url = url(&stub);
    let reply = http_get(&format!("{url}/accounts/7")).expect("an answer");
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (200, r#"{"plan":"free"}"#)
    );
    assert!(reply.header("X-Trace-Id").is_some());
    stub.terminate();
    let run = stub.wait(LIMIT).assert_code(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(
        lines.first().copied(),
        Some(format!("listening on {url}").as_str())
    );
    let logged: serde_json::Value = serde_json::from_str(lines[1]).expect("a JSON line");
    assert_eq!(
        (&logged["service"], &logged["path"]),
        (&"accounts".into(), &"/accounts/7".into())
    );
}

#[test]
fn under_json_every_line_is_json() {
    let sandbox = Sandbox::new(CP9);
    let args = [
        "stub",
        "serve",
        "--json",
        "--kind",
        "metering-recorder",
        "output=deep/payloads.jsonl",
    ];
    let stub = sandbox.cp9(args).spawn();
    let url = url(&stub);
    let reply = http_post(&format!("{url}/v1/meter"), "{\"cents\": 1.50}").expect("an answer");
    assert_eq!((reply.status, reply.body.as_str()), (200, "{}"));
    stub.interrupt();
    let run = stub.wait(LIMIT).assert_code(0);
    let lines = run.json_lines();
    let last = lines.last().expect("an envelope");
    assert_eq!(
        (&last["command"], &last["ok"]),
        (&"stub serve".into(), &true.into())
    );
    assert!(
        sandbox
            .read("deep/payloads.jsonl")
            .contains(r#""body":{"cents":1.50}"#)
    );
}

#[test]
fn a_check_lists_what_would_be_served() {
    let sandbox = sandbox(DEFINITION);
    let run = sandbox
        .cp9(["stub", "serve", "--check", "--definition", "api.yaml"])
        .run();
    assert_data_eq!(
        run.snapshot(),
        str![[r#"
stub openapi from api.yaml (accounts): 2 operations
  GET     /accounts/{id} (getAccount)  200 application/json
  DELETE  /accounts/{id}  204 no body
--- stderr ---
--- exit 0 ---

"#]]
    );
    let recorder = [
        "stub",
        "serve",
        "--check",
        "--kind",
        "billing-recorder",
        "--output",
        "x/y",
    ];
    let run = sandbox.cp9(recorder).run().assert_code(0);
    assert_eq!(run.stdout, "stub billing-recorder: 200 {} to everything\n");
    assert!(!sandbox.path("x").exists());
}

#[test]
fn a_check_and_a_start_name_what_is_refused() {
    let sandbox = sandbox(&format!("{DEFINITION}{HOPELESS}"));
    let check = sandbox
        .cp9(["stub", "serve", "--check", "--definition", "api.yaml"])
        .run();
    assert_data_eq!(
        check.snapshot(),
        str![[r#"
stub openapi from api.yaml (accounts): 4 operations, 2 refused
  GET     /accounts/{id} (getAccount)  200 application/json
  DELETE  /accounts/{id}  204 no body
  GET     /never (never)  refused: no string was found that meets its length, at `application/json`
  PUT     /never  refused: reference `other.yaml#/Answer` leads to another document, and only local references are served
--- stderr ---
error: definition `api.yaml` has 2 of 4 operations without a valid answer

hint: give these operations a success response whose schema can be met, or use kind `permissive`
--- exit 3 ---

"#]]
    );
    let start = sandbox
        .cp9(["stub", "serve", "--definition", "api.yaml"])
        .run();
    assert_data_eq!(
        start.snapshot(),
        str![[r#"
--- stderr ---
error: definition `api.yaml` has 2 of 4 operations without a valid answer
caused by: GET /never (`never`): no string was found that meets its length, at `application/json`
caused by: PUT /never: reference `other.yaml#/Answer` leads to another document, and only local references are served

hint: give these operations a success response whose schema can be met, or use kind `permissive`
--- exit 3 ---

"#]]
    );
    let check = [
        "stub",
        "serve",
        "--check",
        "--json",
        "--definition",
        "api.yaml",
    ];
    let found = sandbox.cp9(check).run().assert_code(3).json();
    assert_eq!(found["error"]["code"], "stub-operations-refused");
    assert_eq!(found["data"]["operations"][0]["id"], "getAccount");
    assert_eq!(found["data"]["refusals"][0]["id"], "never");
}

#[test]
fn wrong_options_are_preconditions_and_unknown_ones_usage() {
    let sandbox = Sandbox::new(CP9);
    let code = |args: &[&str]| {
        let run = sandbox
            .cp9([&["stub", "serve", "--json"], args].concat())
            .run();
        let error = run.json_lines().pop().expect("an envelope")["error"].clone();
        (
            run.code,
            error["code"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let told = |exit: i32, word: &str| (Some(exit), word.to_owned());
    assert_eq!(code(&[]), told(3, "stub-option-missing"));
    assert_eq!(
        code(&["--definition", "none.yaml"]),
        told(3, "stub-definition-unreadable")
    );
    assert_eq!(
        code(&["--kind", "permissive", "--listen", "x"]),
        told(3, "stub-listen")
    );
    assert_eq!(code(&["--kind", "thrift"]).0, Some(64));
}
