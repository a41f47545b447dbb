//! Contracts that were written to hurt: each is answered or refused in time, without running out of
//! stack or memory.

use std::sync::mpsc;
use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_stub::{StubError, Survey, survey};
use serde_json::{Map, Value, json};

/// Generous: builds without optimisation on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);

/// Surveys a contract whose only operation answers with the component `S0`.
fn tried(name: &str, schemas: &Value) -> Result<Survey, StubError> {
    let root = json!({
        "openapi": "3.0.3",
        "paths": { "/a": { "get": { "responses": { "200": { "description": "", "content": {
            "application/json": { "schema": { "$ref": "#/components/schemas/S0" } } } } } } } },
        "components": { "schemas": schemas },
    });
    let dir = tempfile::tempdir().expect("a folder");
    let path = Utf8PathBuf::from_path_buf(dir.path().join("api.json")).expect("UTF-8");
    std::fs::write(&path, root.to_string()).expect("it is written");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = sender.send(survey(&path));
    });
    receiver
        .recv_timeout(LIMIT)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn refused(name: &str, schemas: &Value) -> String {
    let found = tried(name, schemas).unwrap_or_else(|error| panic!("{name}: {error}"));
    let refusal = found
        .refusals
        .first()
        .unwrap_or_else(|| panic!("{name} is served"));
    refusal.reason.clone()
}

/// Schemas `S0` to `S<last>`, each made from the reference to the next.
fn chain(last: usize, link: impl Fn(&Value) -> Value, end: Value) -> Value {
    let mut all = Map::new();
    for n in 0..last {
        let next = json!({ "$ref": format!("#/components/schemas/S{}", n + 1) });
        all.insert(format!("S{n}"), link(&next));
    }
    all.insert(format!("S{last}"), end);
    Value::Object(all)
}

#[test]
fn doubling_schemas_are_given_up() {
    let text = json!({ "type": "string" });
    for key in ["allOf", "anyOf", "oneOf"] {
        let schemas = chain(40, |next| json!({ key: [next, next] }), text.clone());
        let found = tried(key, &schemas).expect("it is read");
        assert!(key == "allOf" || !found.refusals.is_empty(), "{key}");
    }
    let doubled = |next: &Value| json!({ "type": "object", "required": ["a", "b"], "properties": { "a": next, "b": next } });
    let told = refused("objects", &chain(40, doubled, text.clone()));
    assert!(told.contains("too many combinations"), "{told}");
    let wide = |next: &Value| json!({ "type": "array", "minItems": 1000, "items": next });
    let told = refused("arrays", &chain(8, wide, text));
    assert!(told.contains("too many combinations"), "{told}");
}

#[test]
fn long_chains_are_given_up() {
    let end = json!({ "type": "string" });
    let told = refused(
        "allOf",
        &chain(20_000, |next| json!({ "allOf": [next] }), end.clone()),
    );
    assert!(told.contains("combined in one"), "{told}");
    let error = tried("references", &chain(20_000, Value::clone, end.clone())).err();
    assert_eq!(
        error.map(|error| error.code()),
        Some("stub-definition-invalid")
    );
    let deep = |next: &Value| json!({ "type": "array", "minItems": 1, "items": next });
    let told = refused("items", &chain(20_000, deep, end));
    assert!(told.contains("nested deeper"), "{told}");
}

#[test]
fn crowds_are_given_up() {
    let many = |n: usize, make: &dyn Fn(usize) -> Value| (0..n).map(make).collect::<Vec<_>>();
    let parts = many(
        20_000,
        &|n| json!({ "properties": { format!("p{n}"): {} } }),
    );
    let told = refused("parts", &json!({ "S0": { "allOf": parts } }));
    assert!(told.contains("combined in one"), "{told}");
    let choices = many(
        5_000,
        &|_| json!({ "oneOf": [{ "type": "object" }, { "type": "string" }] }),
    );
    let told = refused("choices", &json!({ "S0": { "allOf": choices } }));
    assert!(told.contains("combined in one"), "{told}");
    let names = many(200_000, &|n| json!(format!("p{n}")));
    let told = refused(
        "required",
        &json!({ "S0": { "type": "object", "required": names } }),
    );
    assert!(told.contains("more than 1000 properties"), "{told}");
    let values = many(200_000, &|n| json!(n));
    let told = refused(
        "enum",
        &json!({ "S0": { "type": "integer", "maximum": -1, "enum": values } }),
    );
    assert!(!told.is_empty());
    let patterns = many(60, &|n| {
        json!({ "oneOf": [
        { "type": "string", "pattern": format!("^(a|b{{1,50}}){{1,50}}x{n}$"), "minLength": 60_000 },
        { "type": "string", "pattern": format!("^(a|b{{1,50}}){{1,50}}y{n}$"), "minLength": 60_000 } ] })
    });
    assert!(!refused("patterns", &json!({ "S0": { "allOf": patterns } })).is_empty());
}
