//! Contracts: which response answers, in which forms, under which path, and what is refused.

use camino::Utf8Path;
use serde_json::{Value, json};

use super::load::Contract;
use super::{Document, Operation};
use crate::error::StubError;
use crate::route::Found;

fn document(paths: &Value, more: &Value) -> Document {
    let mut root =
        json!({ "openapi": "3.0.3", "info": { "title": "t", "version": "1" }, "paths": paths });
    let map = root.as_object_mut().expect("an object");
    map.extend(more.as_object().cloned().unwrap_or_default());
    Document::parse(root.to_string().as_bytes(), Utf8Path::new("t.json")).expect("a document")
}

fn load(paths: &Value, more: &Value) -> Result<Contract, StubError> {
    Contract::of(&document(paths, more), Utf8Path::new("t.json"))
}

/// The only operation of a contract, `GET /a`, with these responses.
fn answer(responses: &Value) -> Operation {
    let contract = load(
        &json!({ "/a": { "get": { "responses": responses } } }),
        &json!({}),
    );
    let contract = contract.expect("a contract");
    match contract.routes.find("/a", "", "GET") {
        Found::Operation { operation, .. } => operation.clone(),
        other => panic!("{other:?}"),
    }
}

fn refused(responses: &Value) -> String {
    let loaded = load(
        &json!({ "/a": { "get": { "responses": responses } } }),
        &json!({}),
    );
    loaded.expect_err("no contract").details().join("; ")
}

fn text(operation: &Operation) -> Vec<(String, String)> {
    let bodies = operation.response.bodies.iter();
    bodies
        .map(|(media, body)| {
            (
                media.text.clone(),
                String::from_utf8_lossy(body).into_owned(),
            )
        })
        .collect()
}

#[test]
fn the_success_response_answers() {
    for (keys, status) in [
        (vec!["404", "202", "201", "default"], 201),
        (vec!["2XX", "204", "default"], 204),
        (vec!["4XX", "2xx"], 200),
        (vec!["404", "default"], 200),
        (vec!["302", "default"], 302),
        (vec!["3XX"], 300),
        (vec!["500", "404"], 404),
        (vec!["101", "5XX"], 500),
    ] {
        let responses: serde_json::Map<String, Value> = keys
            .iter()
            .map(|key| ((*key).to_owned(), json!({ "description": key })))
            .collect();
        let operation = answer(&Value::Object(responses));
        assert_eq!(operation.response.status.as_u16(), status, "{keys:?}");
    }
    assert!(refused(&json!({})).contains("declares no responses"));
    assert!(refused(&json!({ "20": {} })).contains("`20` is no status"));
}

#[test]
fn each_media_type_has_its_body() {
    let response = |content: Value| json!({ "200": { "description": "", "content": content } });
    let thing = json!({ "schema": { "type": "object", "required": ["a"],
        "properties": { "a": { "type": "integer" } } } });
    let word = json!({ "schema": { "type": "string", "enum": ["OK"] } });
    let found = answer(&response(json!({
        "application/xml": thing, "text/plain": word, "application/vnd.x+json": thing,
        "image/png": { "schema": { "type": "string", "format": "binary" } }, "text/csv": {},
    })));
    let body = |media: &str, body: &str| (media.to_owned(), body.to_owned());
    assert_eq!(
        text(&found),
        [
            body("application/vnd.x+json", r#"{"a":0}"#),
            body("text/plain", "OK"),
            body("image/png", ""),
            body("text/csv", ""),
        ]
    );
    assert_eq!(
        text(&answer(&response(json!({ "*/*": {} })))),
        [body("application/json", "{}")]
    );
    let number = json!({ "text/plain": { "schema": { "type": "integer", "minimum": 3 } } });
    assert_eq!(text(&answer(&response(number))), [body("text/plain", "3")]);
    let told = refused(&response(json!({ "application/xml": thing })));
    assert!(told.contains("made up in JSON alone"), "{told}");
    let told = refused(&response(json!({ "text/plain": word,
        "application/json": { "schema": { "type": "string", "enum": ["a"], "maxLength": 0 } } })));
    assert!(told.contains("at `application/json`"), "{told}");
    let bodiless =
        json!({ "204": { "description": "", "content": { "application/json": thing } } });
    assert_eq!(text(&answer(&bodiless)), []);
}

#[test]
fn required_headers_are_sent() {
    let headers = json!({
        "X-Count": { "required": true, "schema": { "type": "integer", "minimum": 1 } },
        "X-List": { "required": true, "schema": { "type": "array", "minItems": 2, "items": { "type": "boolean" } } },
        "X-Optional": { "schema": { "type": "string" } },
        "Content-Type": { "required": true, "schema": { "type": "string", "enum": ["a/b"] } },
        "X-Json": { "required": true, "content": { "application/json": { "schema": { "type": "object" } } } },
    });
    let found = answer(&json!({ "200": { "description": "", "headers": headers } }));
    let sent: Vec<(String, String)> = found
        .response
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()))
        .collect();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        sent,
        [
            header("x-count", "1"),
            header("x-list", "false,false"),
            header("x-json", "{}")
        ]
    );
    let bad =
        json!({ "X-Line": { "required": true, "schema": { "type": "string", "enum": ["a\nb"] } } });
    let told = refused(&json!({ "200": { "description": "", "headers": bad } }));
    assert!(told.contains("header X-Line"), "{told}");
}

#[test]
fn references_lead_anywhere_in_the_document() {
    let paths = json!({
        "/a": { "$ref": "#/components/x-items/a" },
        "/b": { "get": { "responses": { "200": { "$ref": "#/components/responses/It" } } } },
        "/c": { "get": { "responses": { "200": { "description": "", "content": { "application/json": {
            "schema": { "$ref": "#/paths/~1b/x-schemas/Tree%20node" } } } } } } },
    });
    let mut paths = paths;
    paths["/b"]["x-schemas"] = json!({ "Tree node": { "type": "object", "required": ["children"], "properties": {
        "children": { "type": "array", "items": { "$ref": "#/paths/~1b/x-schemas/Tree%20node" } } } } });
    let components = json!({ "components": {
        "x-items": { "a": { "get": { "responses": { "204": { "description": "" } } } } },
        "responses": { "It": { "$ref": "#/components/responses/Other" },
            "Other": { "description": "", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Ints" } } } } },
        "schemas": { "Ints": { "type": "array", "minItems": 1, "items": { "type": "integer" } } },
    } });
    let contract = load(&paths, &components).expect("a contract");
    let body = |path: &str| match contract.routes.find(path, "", "GET") {
        Found::Operation { operation, .. } => text(operation).pop().map(|(_, body)| body),
        other => panic!("{other:?}"),
    };
    assert_eq!(contract.operations, 3);
    assert_eq!(body("/a"), None);
    assert_eq!(body("/b").as_deref(), Some("[0]"));
    assert_eq!(body("/c").as_deref(), Some(r#"{"children":[]}"#));
}

#[test]
fn every_operation_without_an_answer_is_named() {
    let dead = json!({ "200": { "description": "", "content": { "application/json": { "schema":
        { "type": "string", "minLength": 2, "maxLength": 1 } } } } });
    let foreign = json!({ "200": { "$ref": "common.yaml#/Answer" } });
    let paths = json!({
        "/a": { "get": { "operationId": "one", "responses": dead }, "put": { "responses": { "204": { "description": "" } } } },
        "/b/{x": { "get": { "responses": { "204": { "description": "" } } } },
        "/c/{x}": { "get": { "responses": foreign } },
        "/c/{y}": { "get": { "responses": { "204": { "description": "" } } }, "put": { "responses": { "204": { "description": "" } } } },
        "/d/{x}": { "get": { "responses": { "204": { "description": "" } } } },
        "/d/{y}": { "get": { "responses": { "204": { "description": "" } } } },
    });
    let error = load(&paths, &json!({})).expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "definition `t.json` has 4 of 8 operations without a valid answer"
    );
    assert_eq!(error.code(), "stub-operations-refused");
    let told = error.details();
    for (told, start) in told.iter().zip([
        "GET /a (`one`): no string was found that meets its length",
        "GET /b/{x: path `/b/{x` has a `{` without its `}`",
        "GET /c/{x}: reference `common.yaml#/Answer` leads to another document",
        "GET /d/{y}: path `/d/{x}` has the same template and method",
    ]) {
        assert!(told.starts_with(start), "{told}");
    }
}

#[test]
fn the_path_of_the_first_server_is_the_base() {
    let base = |servers: Value| {
        load(&json!({}), &json!({ "servers": servers }))
            .expect("a contract")
            .base
    };
    for (url, expected) in [
        ("https://api.example.com/v1/", "/v1"),
        ("https://api.example.com", ""),
        ("/v2", "/v2"),
        ("/", ""),
        ("v3/x", "/v3/x"),
        ("https://a.example.com:8080/v1?x=/y", "/v1"),
    ] {
        assert_eq!(
            base(json!([{ "url": url }, { "url": "/other" }])),
            expected,
            "{url}"
        );
    }
    let variables = json!([{ "url": "https://{host}/{version}", "variables": {
        "host": { "default": "a.example.com/x" }, "version": { "default": "v9" } } }]);
    assert_eq!(base(variables), "/x/v9");
    assert_eq!(base(json!([])), "");
}

#[test]
fn other_versions_and_other_files_are_refused_by_name() {
    let parse = |text: &str| {
        let parsed = Document::parse(text.as_bytes(), Utf8Path::new("x.yaml"));
        parsed.map(drop).expect_err("it is refused").to_string()
    };
    for (text, told) in [
        ("swagger: '2.0'", "OpenAPI `2.0` (Swagger)"),
        ("openapi: 3.1.0", "OpenAPI `3.1.0`"),
        ("openapi: 3", "OpenAPI `3`"),
        ("openapi: {}", "OpenAPI `{}`"),
        ("a: 1", "neither `openapi` nor `swagger`"),
        ("- 1", "no object"),
        ("", "no object"),
        ("{\"openapi\": ", "cannot parse definition `x.yaml` as JSON"),
        ("a: [", "cannot parse definition `x.yaml` as YAML"),
        ("a: 1\na: 2", "as YAML"),
        ("\u{0}", "as YAML"),
    ] {
        let found = parse(text);
        assert!(
            found.contains(told) && found.contains("`x.yaml`"),
            "{text:?}: {found}"
        );
    }
    let bomb = (0..40).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        format!("{text}a{}: &a{} [*a{n}, *a{n}]\n", n + 1, n + 1)
    });
    assert!(parse(&format!("openapi: 3.0.0\n{bomb}")).contains("YAML"));
    assert!(parse(&format!("openapi: {}", "[".repeat(5000))).contains("YAML"));
}

#[test]
fn yaml_and_json_are_read_alike() {
    let yaml = "openapi: 3.0.3\ninfo: {title: t, version: 1}\npaths:\n  /a:\n    get:\n      responses:\n        200: &it {description: on}\n        404: *it\n";
    for text in [
        yaml.to_owned(),
        format!("\u{feff}{yaml}"),
        yaml.replace('\n', "\r\n"),
    ] {
        let document = Document::parse(text.as_bytes(), Utf8Path::new("t")).expect("a document");
        let contract = Contract::of(&document, Utf8Path::new("t")).expect("a contract");
        assert_eq!(contract.operations, 1);
        let response = document
            .root()
            .pointer("/paths/~1a/get/responses/200/description");
        assert_eq!(response, Some(&json!("on")));
    }
    let flow = Document::parse(b"{openapi: 3.0.0, paths: {}}", Utf8Path::new("t.yaml"));
    assert!(flow.is_ok());
}

#[test]
fn rules_that_no_answer_shows_are_kept() {
    let ok = json!({ "204": { "description": "" } });
    let with = |more: Value| {
        let mut operation = json!({ "responses": ok });
        let map = operation.as_object_mut().expect("an object");
        map.extend(more.as_object().cloned().unwrap_or_default());
        load(&json!({ "/a/{id}": { "get": operation } }), &json!({}))
    };
    let parameter = |more: Value| with(json!({ "parameters": [more] }));
    let told = |loaded: Result<Contract, StubError>| {
        loaded.expect_err("it is refused").details().join("; ")
    };
    let text = json!({ "type": "string" });
    for (found, expected) in [
        (
            parameter(json!({ "name": "q", "in": "body" })),
            "its `in` is none of",
        ),
        (
            parameter(json!({ "name": "id", "in": "path", "schema": text })),
            "required: true",
        ),
        (
            parameter(json!({ "name": "no", "in": "path", "required": true, "schema": text })),
            "does not occur in the path",
        ),
        (
            parameter(json!({ "name": "q", "in": "query", "schema": { "type": "text" } })),
            "is no type",
        ),
        (
            parameter(json!({ "name": "q", "in": "query", "style": "simple", "schema": text })),
            "its `style`",
        ),
        (
            parameter(json!({ "name": "q", "in": "query", "content": {} })),
            "exactly one media type",
        ),
        (parameter(json!({ "$ref": "#/nowhere" })), "leads nowhere"),
        (
            with(json!({ "security": [{ "key": [] }] })),
            "names no scheme",
        ),
        (
            with(json!({ "requestBody": { "content": { ";": {} } } })),
            "no media type",
        ),
    ] {
        let found = told(found);
        assert!(found.contains(expected), "{found}");
    }
    let twice = json!({ "name": "q", "in": "query", "schema": text });
    assert!(told(with(json!({ "parameters": [twice, twice] }))).contains("declared twice"));
    let same = json!({ "get": { "operationId": "x", "responses": ok }, "put": { "operationId": "x", "responses": ok } });
    assert!(told(load(&json!({ "/a": same }), &json!({}))).contains("also that of GET /a"));
    assert!(told(load(&json!({}), &json!({ "webhooks": {} }))).contains("3.1 does"));
    assert!(parameter(json!({ "$ref": "other.yaml#/P" })).is_ok());
    assert!(
        parameter(json!({ "name": "id", "in": "path", "required": true, "schema": text })).is_ok()
    );
}

/// A contract that uses most of OpenAPI, to be broken at any place.
fn whole() -> Value {
    json!({
        "openapi": "3.0.3", "info": { "title": "t", "version": "1" },
        "servers": [{ "url": "https://{h}/v1", "variables": { "h": { "default": "a", "enum": ["a"] } } }],
        "security": [{ "key": [] }],
        "paths": { "/a/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "get": { "operationId": "a", "responses": {
                "200": { "description": "", "headers": { "X-A": { "required": true, "schema": { "type": "integer" } } },
                    "content": { "application/json": { "schema": { "$ref": "#/components/schemas/A" } }, "text/plain": {} } },
                "default": { "$ref": "#/components/responses/E" } } } } },
        "components": {
            "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "k" } },
            "responses": { "E": { "description": "" } },
            "schemas": {
                "A": { "type": "object", "required": ["n", "b", "l"], "properties": {
                    "n": { "type": "integer", "minimum": 1, "multipleOf": 2 }, "l": { "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "string" } },
                    "b": { "oneOf": [{ "$ref": "#/components/schemas/B" }, { "type": "string", "pattern": "^a+$" }], "discriminator": { "propertyName": "k" } } } },
                "B": { "allOf": [{ "type": "object", "required": ["k"], "properties": { "k": { "type": "string" } } }, { "nullable": true }] } } },
    })
}

/// Every place of a value.
fn places(at: &str, value: &Value, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, inner)| places(&format!("{at}/{}", escaped(key)), inner, found)),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(n, inner)| places(&format!("{at}/{n}"), inner, found)),
        _ => {}
    }
}

#[test]
fn the_whole_contract_is_one() {
    let document = Document::parse(whole().to_string().as_bytes(), Utf8Path::new("t.json"));
    let contract = Contract::of(&document.expect("a document"), Utf8Path::new("t.json"));
    assert_eq!(contract.expect("a contract").operations, 1);
}

#[test]
fn a_contract_broken_at_any_place_is_served_or_refused() {
    let mut all = Vec::new();
    places("", &whole(), &mut all);
    let strange = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!([null]),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/components/schemas/A" }),
        json!({ "type": "object" }),
        json!("#/paths"),
    ];
    for place in all.iter().skip(1) {
        for value in &strange {
            let mut broken = whole();
            *broken.pointer_mut(place).expect("a place") = value.clone();
            let path = Utf8Path::new("t.json");
            let loaded = Document::parse(broken.to_string().as_bytes(), path)
                .and_then(|document| Contract::of(&document, path));
            if let Err(error) = loaded {
                assert!(error.to_string().contains("`t.json`"), "{place}: {error}");
            }
        }
    }
}
