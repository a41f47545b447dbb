//! Zero values: what each rule builds, and over random schemas that nothing invalid is ever built.

use camino::Utf8Path;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Search;
use crate::contract::Document;

/// A document with these component schemas.
fn document(schemas: &Value) -> Document {
    let root = json!({
        "openapi": "3.0.3",
        "info": { "title": "t", "version": "1" },
        "paths": {},
        "components": { "schemas": schemas },
    });
    let bytes = root.to_string().into_bytes();
    Document::parse(&bytes, Utf8Path::new("t.json")).expect("a document")
}

/// The zero value of the component `It`, or why there is none.
fn zero_among(schemas: &Value) -> Result<Value, String> {
    let document = document(schemas);
    let schema = document.target("#/components/schemas/It").expect("it");
    let found = Search::new(&document).zero(schema);
    found.map_err(|reason| reason.to_string())
}

fn zero(schema: &Value) -> Result<Value, String> {
    zero_among(&json!({ "It": schema }))
}

fn assert_zero(schema: &Value, expected: &Value) {
    assert_eq!(zero(schema).as_ref(), Ok(expected), "{schema}");
}

fn refusal(schema: &Value) -> String {
    zero(schema).expect_err("it has no value")
}

#[test]
fn each_type_has_its_plainest_value() {
    for (schema, expected) in [
        (json!({}), json!({})),
        (json!({ "type": "object" }), json!({})),
        (json!({ "type": "array", "items": {} }), json!([])),
        (json!({ "type": "string" }), json!("")),
        (json!({ "type": "integer" }), json!(0)),
        (json!({ "type": "number" }), json!(0)),
        (json!({ "type": "boolean" }), json!(false)),
        (json!({ "type": "string", "nullable": true }), json!("")),
        (json!({ "items": {}, "minItems": 1 }), json!([{}])),
        (json!({ "format": "date" }), json!("1970-01-01")),
        (json!({ "additionalProperties": false }), json!({})),
    ] {
        assert_zero(&schema, &expected);
    }
}

#[test]
fn enums_give_their_first_fitting_value() {
    let first = |list: Value| json!({ "type": "string", "enum": list });
    assert_zero(&first(json!(["b", "a"])), &json!("b"));
    assert_zero(&first(json!([null, 1, "a"])), &json!("a"));
    assert_zero(
        &json!({ "type": "string", "nullable": true, "enum": [null] }),
        &json!(null),
    );
    assert_zero(
        &json!({ "type": "integer", "enum": [1, 5, 9], "minimum": 4 }),
        &json!(5),
    );
    assert_eq!(
        refusal(&first(json!([1, 2]))),
        "no value of its `enum` meets its schema"
    );
}

#[test]
fn numbers_are_the_nearest_to_zero() {
    let number = |kind: &str, more: &str| -> Value {
        let text = format!("{{\"type\":\"{kind}\",{more}}}");
        serde_json::from_str(&text).expect("a schema")
    };
    for (kind, more, expected) in [
        ("integer", r#""minimum":3"#, json!(3)),
        (
            "integer",
            r#""minimum":3,"exclusiveMinimum":true"#,
            json!(4),
        ),
        ("integer", r#""minimum":2.5"#, json!(3)),
        ("integer", r#""maximum":-2"#, json!(-2)),
        ("integer", r#""maximum":-2.5"#, json!(-3)),
        ("integer", r#""minimum":7,"multipleOf":5"#, json!(10)),
        ("integer", r#""maximum":-7,"multipleOf":5"#, json!(-10)),
        ("integer", r#""minimum":-3,"maximum":8"#, json!(0)),
        (
            "integer",
            r#""minimum":18446744073709551615"#,
            json!(u64::MAX),
        ),
        (
            "number",
            r#""minimum":0,"exclusiveMinimum":true,"maximum":1,"exclusiveMaximum":true"#,
            json!(0.5),
        ),
        ("number", r#""minimum":0.1,"maximum":0.2"#, json!(0.1)),
        (
            "number",
            r#""minimum":0.1,"maximum":0.9,"multipleOf":0.25"#,
            json!(0.25),
        ),
        ("number", r#""minimum":1.5"#, json!(2)),
    ] {
        assert_zero(&number(kind, more), &expected);
    }
    for (kind, more) in [
        ("integer", r#""minimum":2147483648,"format":"int32""#),
        ("integer", r#""minimum":1.2,"maximum":1.8"#),
        ("integer", r#""minimum":3,"maximum":2"#),
        ("integer", r#""minimum":1e300"#),
        (
            "number",
            r#""minimum":1,"maximum":1,"exclusiveMaximum":true"#,
        ),
    ] {
        assert!(refusal(&number(kind, more)).contains("bounds"), "{more}");
    }
}

#[test]
fn texts_meet_length_format_and_pattern() {
    let text = |more: Value| {
        let mut schema = json!({ "type": "string" });
        let map = schema.as_object_mut().expect("an object");
        map.extend(more.as_object().expect("an object").clone());
        schema
    };
    for (more, expected) in [
        (json!({ "minLength": 3 }), "aaa"),
        (json!({ "format": "date-time" }), "1970-01-01T00:00:00Z"),
        (
            json!({ "format": "uuid" }),
            "00000000-0000-0000-0000-000000000000",
        ),
        (
            json!({ "format": "email", "minLength": 15 }),
            "aaa@example.com",
        ),
        (json!({ "format": "uri" }), "http://localhost/"),
        (json!({ "format": "ipv4" }), "0.0.0.0"),
        (json!({ "format": "ipv6" }), "::"),
        (json!({ "format": "byte", "minLength": 1 }), "AAAA"),
        (json!({ "format": "binary" }), ""),
        (json!({ "format": "made-up", "minLength": 1 }), "a"),
        (
            json!({ "pattern": "^[A-Z]{2}[0-9]+$", "minLength": 4 }),
            "AA00",
        ),
        (json!({ "pattern": "^v" }), "v"),
        (
            json!({ "format": "date", "pattern": "^1970" }),
            "1970-01-01",
        ),
    ] {
        assert_zero(&text(more), &json!(expected));
    }
    for (more, told) in [
        (json!({ "minLength": 2, "maxLength": 1 }), "its length"),
        (json!({ "format": "ipv4", "maxLength": 3 }), "format `ipv4`"),
        (json!({ "pattern": "^a$", "minLength": 2 }), "pattern `^a$`"),
        (json!({ "pattern": "(?=a)b" }), "is not understood"),
        (json!({ "minLength": 10_000_000 }), "65536"),
    ] {
        let told_of = refusal(&text(more));
        assert!(told_of.contains(told), "{told_of}");
    }
}

#[test]
fn what_the_contract_gives_saves_what_no_rule_builds() {
    let odd = |more: Value| {
        json!({ "type": "string", "pattern": "^(a|b)c$", "minLength": 2,
            "not": { "enum": ["ac", "bc"] }, "default": more })
    };
    assert!(zero(&odd(json!("ac"))).is_err());
    let date =
        json!({ "type": "string", "format": "date", "pattern": "^2024", "example": "2024-02-29" });
    assert_zero(&date, &json!("2024-02-29"));
}

#[test]
fn objects_hold_what_they_must_and_no_more() {
    let schema = json!({
        "type": "object",
        "required": ["b", "a", "free", "sent"],
        "properties": {
            "a": { "type": "integer" },
            "b": { "type": "object", "required": ["c"], "properties": { "c": { "type": "boolean" } } },
            "optional": { "type": "string" },
            "sent": { "type": "string", "writeOnly": true },
        },
    });
    assert_zero(&schema, &json!({ "a": 0, "b": { "c": false }, "free": {} }));
    assert_zero(
        &json!({ "type": "object", "minProperties": 2, "properties": { "a": { "type": "string" } },
            "additionalProperties": { "type": "integer" } }),
        &json!({ "a": "", "property1": 0 }),
    );
    let closed = json!({ "type": "object", "required": ["a"], "additionalProperties": false });
    assert!(refusal(&closed).contains("required and not allowed"));
    let full = json!({ "type": "object", "required": ["a", "b"], "maxProperties": 1 });
    assert!(refusal(&full).contains("more properties than it allows"));
    let huge = json!({ "type": "object", "minProperties": 1_000_000_000 });
    assert!(refusal(&huge).contains("1000"));
}

#[test]
fn arrays_hold_what_they_must() {
    let array = |items: Value, least: u64| json!({ "type": "array", "items": items, "minItems": least, "uniqueItems": true });
    assert_zero(&array(json!({ "type": "integer" }), 3), &json!([0, 1, -1]));
    assert_zero(
        &array(json!({ "type": "boolean" }), 2),
        &json!([false, true]),
    );
    assert_zero(
        &array(json!({ "type": "string", "enum": ["x", "y"] }), 2),
        &json!(["x", "y"]),
    );
    let found = zero(&array(json!({ "type": "string", "format": "uuid" }), 3)).expect("it differs");
    assert_eq!(found.as_array().map(Vec::len), Some(3));
    let found = zero(&array(
        json!({ "type": "object", "required": ["id"],
        "properties": { "id": { "type": "integer", "multipleOf": 10 } } }),
        3,
    ));
    assert_eq!(found, Ok(json!([{ "id": 0 }, { "id": 10 }, { "id": -10 }])));
    assert!(refusal(&array(json!({ "type": "boolean" }), 3)).contains("3 items that differ"));
    assert!(refusal(&json!({ "type": "array", "minItems": 2, "maxItems": 1 })).contains("items"));
}

#[test]
fn all_of_is_one_demand() {
    let schema = json!({ "allOf": [
        { "type": "object", "required": ["n"], "properties": { "n": { "type": "number", "minimum": 2 } } },
        { "properties": { "n": { "type": "integer", "maximum": 5, "multipleOf": 3 } } },
    ] });
    assert_zero(&schema, &json!({ "n": 3 }));
    let apart = json!({ "allOf": [{ "type": "string" }, { "type": "integer" }] });
    assert_eq!(refusal(&apart), "its schemas agree on no type");
}

#[test]
fn one_of_is_met_exactly_once() {
    let dead = json!({ "type": "string", "pattern": "^a$", "minLength": 3 });
    for (schema, expected) in [
        (
            json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!(""),
        ),
        (
            json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }),
            json!(0.5),
        ),
        (
            json!({ "oneOf": [{ "type": "string", "format": "date" }, { "type": "string" }] }),
            json!(""),
        ),
        (json!({ "anyOf": [dead, { "type": "integer" }] }), json!(0)),
        (
            json!({ "type": "boolean", "not": { "enum": [false] } }),
            json!(true),
        ),
    ] {
        assert_zero(&schema, &expected);
    }
    let arrays = json!({ "oneOf": [
        { "type": "array", "items": { "type": "string" } },
        { "type": "array", "items": { "type": "integer" } },
    ] });
    assert_zero(&arrays, &json!([""]));
    let objects = json!({ "oneOf": [
        { "type": "object", "properties": { "a": { "type": "string" } } },
        { "type": "object", "properties": { "a": { "type": "integer" } } },
    ] });
    assert_zero(&objects, &json!({ "a": "" }));
    let same = json!({ "oneOf": [{ "type": "string" }, { "type": "string" }] });
    assert!(refusal(&same).contains("oneOf"));
}

#[test]
fn cycles_end_where_something_may_be_left_out() {
    let node = |next: Value, required: Value| {
        json!({ "It": { "type": "object", "required": required,
            "properties": { "id": { "type": "integer" }, "next": next } } })
    };
    let it = json!({ "$ref": "#/components/schemas/It" });
    let both = json!(["id", "next"]);
    assert_eq!(
        zero_among(&node(it.clone(), json!(["id"]))),
        Ok(json!({ "id": 0 }))
    );
    let list = json!({ "type": "array", "items": it });
    assert_eq!(
        zero_among(&node(list, both.clone())),
        Ok(json!({ "id": 0, "next": [] }))
    );
    let choice = json!({ "oneOf": [it, { "type": "string" }] });
    assert_eq!(
        zero_among(&node(choice, both.clone())),
        Ok(json!({ "id": 0, "next": "" }))
    );
    let refused = zero_among(&node(it.clone(), both)).expect_err("without end");
    assert_eq!(
        refused,
        "its schema requires a value of itself without end, at `next`"
    );
    let nullable = json!({ "It": { "type": "object", "nullable": true, "required": ["next"],
        "properties": { "next": it } } });
    assert_eq!(zero_among(&nullable), Ok(json!({ "next": null })));
    for (itself, told) in [
        (it.clone(), "leads to itself"),
        (json!({ "allOf": [it] }), "cycle"),
        (json!({ "anyOf": [it] }), "cycle"),
    ] {
        let refused = zero_among(&json!({ "It": itself })).expect_err("it is nothing");
        assert!(refused.contains(told), "{itself}: {refused}");
    }
}

#[test]
fn discriminators_say_which_schema_it_is() {
    let pets = |root: Value| {
        json!({
            "It": root,
            "Cat": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } } },
            "Dog": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } } },
        })
    };
    let cat = json!({ "$ref": "#/components/schemas/Cat" });
    let dog = json!({ "$ref": "#/components/schemas/Dog" });
    let plain = json!({ "oneOf": [cat, dog], "discriminator": { "propertyName": "kind" } });
    assert_eq!(zero_among(&pets(plain)), Ok(json!({ "kind": "Cat" })));
    let mapped = json!({ "oneOf": [cat, dog], "discriminator": { "propertyName": "kind",
        "mapping": { "meow": "#/components/schemas/Cat", "woof": "Dog" } } });
    assert_eq!(zero_among(&pets(mapped)), Ok(json!({ "kind": "meow" })));
}

#[test]
fn a_base_schema_is_one_of_its_heirs() {
    let schemas = |mapping: Value| {
        json!({
            "It": { "type": "object", "required": ["kind"],
                "properties": { "kind": { "type": "string" } },
                "discriminator": { "propertyName": "kind", "mapping": mapping } },
            "Heir": { "allOf": [{ "$ref": "#/components/schemas/It" },
                { "type": "object", "required": ["own"], "properties": { "own": { "type": "integer" } } }] },
        })
    };
    let mapping = json!({ "heir": "#/components/schemas/Heir" });
    assert_eq!(
        zero_among(&schemas(mapping.clone())),
        Ok(json!({ "kind": "heir", "own": 0 }))
    );
    let own = json!({ "it": "It", "heir": "Heir" });
    assert_eq!(zero_among(&schemas(own)), Ok(json!({ "kind": "it" })));
    let document = document(&schemas(mapping));
    let heir = json!({ "$ref": "#/components/schemas/Heir" });
    let found = Search::new(&document)
        .zero(&heir)
        .map_err(|e| e.to_string());
    assert_eq!(found, Ok(json!({ "kind": "heir", "own": 0 })));
}

#[test]
fn a_search_without_end_is_given_up() {
    let wide = |depth: usize| {
        let branch = |n: usize| json!({ "required": [format!("p{n}")] });
        let all: Vec<Value> = (0..depth)
            .map(|n| json!({ "oneOf": [branch(n), branch(n), branch(n + 100), branch(n + 100)] }))
            .collect();
        json!({ "type": "object", "allOf": all })
    };
    assert!(refusal(&wide(12)).contains("too many combinations"));
}

fn numbers() -> impl Strategy<Value = Value> {
    let small = -6i64..7;
    (
        prop_oneof!["integer", "number"],
        prop::option::of(small.clone()),
        prop::option::of(small),
        any::<(bool, bool)>(),
        prop::option::of(1u64..5),
    )
        .prop_map(|(kind, min, max, (above, below), step)| {
            json!({ "type": kind, "minimum": min, "maximum": max, "multipleOf": step,
                "exclusiveMinimum": above, "exclusiveMaximum": below })
        })
}

fn texts() -> impl Strategy<Value = Value> {
    // Draft 4 knows these; about the others validators differ.
    let format = prop_oneof!["date-time", "email", "uri", "ipv4", "ipv6", "hostname", "x"];
    let patterns = ["^[a-z]+$", "^[0-9]{2,4}$", "a|bc", "^(x-)?y", r"^\d+\.\d+$"];
    (
        prop::option::of(0u64..6),
        prop::option::of(0u64..9),
        prop::option::of(format),
        prop::option::of(prop::sample::select(patterns.to_vec())),
    )
        .prop_map(|(min, max, format, pattern)| {
            json!({ "type": "string", "minLength": min, "maxLength": max,
                "format": format, "pattern": pattern })
        })
}

/// Schemas as people and fuzzers write them, some of which nothing meets.
fn schemas() -> impl Strategy<Value = Value> {
    let listed = prop::collection::vec(prop_oneof!["a", "b", "c"], 1..3)
        .prop_map(|list| json!({ "type": "string", "enum": list }));
    let plain = prop_oneof![
        numbers(),
        texts(),
        listed,
        Just(json!({ "type": "boolean" })),
        Just(json!({})),
        Just(json!({ "$ref": "#/components/schemas/It" })),
    ];
    plain
        .prop_map(without_nulls)
        .prop_recursive(4, 24, 4, |inner| {
            let several = prop::collection::vec(inner.clone(), 1..3);
            let keyword = prop_oneof!["allOf", "anyOf", "oneOf"];
            prop_oneof![
                (
                    several.clone(),
                    any::<[bool; 3]>(),
                    prop::option::of(0u64..4)
                )
                    .prop_map(|(list, flags, least)| object(list, flags, least)),
                (
                    inner.clone(),
                    prop::option::of(0u64..3),
                    prop::option::of(0u64..3),
                    any::<bool>()
                )
                    .prop_map(|(items, min, max, unique)| without_nulls(
                        json!({ "type": "array",
                    "items": items, "minItems": min, "maxItems": max, "uniqueItems": unique })
                    )),
                (several, keyword).prop_map(|(list, keyword)| json!({ keyword: list })),
                inner.prop_map(|inner| json!({ "type": "string", "not": inner })),
            ]
        })
}

fn object(list: Vec<Value>, [closed, nullable, all]: [bool; 3], least: Option<u64>) -> Value {
    let names: Vec<String> = (0..list.len()).map(|n| format!("p{n}")).collect();
    let required = if all {
        names.clone()
    } else {
        names[..1].to_vec()
    };
    let properties: serde_json::Map<String, Value> = names.into_iter().zip(list).collect();
    without_nulls(
        json!({ "type": "object", "properties": properties, "required": required,
        "nullable": nullable, "additionalProperties": !closed, "minProperties": least }),
    )
}

/// The schema without the keywords that were drawn as absent.
fn without_nulls(schema: Value) -> Value {
    match schema {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect(),
        other => other,
    }
}

/// What another validator says, with `nullable` told in its own terms.
fn is_valid(schema: &Value, value: &Value) -> Result<(), String> {
    fn told(node: &Value) -> Value {
        match node {
            Value::Object(map) => {
                let mut map: serde_json::Map<String, Value> =
                    map.iter().map(|(k, v)| (k.clone(), told(v))).collect();
                if map.get("nullable") == Some(&json!(true)) {
                    let word = map["type"].clone();
                    map.insert("type".into(), json!([word, "null"]));
                }
                Value::Object(map)
            }
            Value::Array(list) => list.iter().map(told).collect(),
            other => other.clone(),
        }
    }
    let root = json!({ "components": { "schemas": { "It": told(schema) } },
        "allOf": [{ "$ref": "#/components/schemas/It" }] });
    let validator = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft4)
        .should_validate_formats(true)
        .build(&root)
        .map_err(|error| error.to_string())?;
    validator.validate(value).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_built_is_valid(schema in schemas()) {
        if let Ok(value) = zero(&schema) {
            prop_assert_eq!(is_valid(&schema, &value), Ok(()), "{} for {}", value, schema);
        }
    }

    #[test]
    fn anything_may_be_called_a_schema(text in "[{}\\[\\]\":,a-z$#/0-9 ]{0,60}") {
        if let Ok(schema) = serde_json::from_str::<Value>(&text) {
            let _ = zero(&schema);
        }
    }
}
