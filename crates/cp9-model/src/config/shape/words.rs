//! What a refusal says: the place, the message, the remedy.

use boon::Type;
use serde_json::Value;

use super::super::check::{Check, child, dotted, list};
use super::boon_errors::{Kind, Refusal};
use crate::diagnostic::{Code, Finding};
use crate::yaml::Style;

/// Keys of older formats: where, name, what takes their place.
const REMOVED: &[(&str, &str, &str)] = &[
    (
        "",
        "persona",
        "remove it; what a session needs follows from its services",
    ),
    (
        "",
        "personas",
        "remove it; name the environment in `appDelivery.env`",
    ),
    (
        "",
        "owner",
        "remove it; the owner is proven, or named by the environment variable `CP9_OWNER`",
    ),
    (
        "",
        "owners",
        "remove it; the owner is proven, or named by the environment variable `CP9_OWNER`",
    ),
    (
        "",
        "requires",
        "remove it; what a session needs follows from its services",
    ),
    ("", "cluster", "use `host.k3d` for the sizes of the cluster"),
    ("", "crds", "remove it; CRDs come with the app environment"),
    (
        "",
        "readiness",
        "remove it; probes of the manifests decide readiness",
    ),
    ("", "real", "use `services.source` or `services.live`"),
    ("", "sources", "use `services.source`"),
    ("", "overrides", "use `services.source.<svc>.overrides`"),
    ("", "stubs", "use `services.stub`"),
    ("", "live_update_services", "use `source_build_services`"),
    ("", "topology", "list the services in this file"),
    (
        "/metadb",
        "provider",
        "remove it; the database comes from Terraform outputs",
    ),
    (
        "/services",
        "real",
        "use `source` for what you build, `live` for what you only run",
    ),
    ("/services", "runtime", "use `live`"),
];

/// The finding of a refusal.
pub(super) fn finding(refusal: &Refusal, check: &Check<'_>, schema: &Value) -> Finding {
    let pointer = &refusal.pointer;
    match &refusal.kind {
        Kind::UnknownKey(key) => unknown_key(refusal, key, check, schema),
        Kind::MissingKey(key) => missing_key(pointer, key, check),
        Kind::Type(wanted) => match refusal.allowed_words(schema) {
            words if words.is_empty() => wrong_type(pointer, wanted, check),
            words => not_allowed(pointer, &words, check),
        },
        Kind::Allowed(values) => not_allowed(pointer, values, check),
        Kind::Minimum(least) => bound(pointer, &format!("at least {least}"), check),
        Kind::Maximum(most) => bound(pointer, &format!("at most {most}"), check),
        Kind::Form => check.value(
            Code::SCHEMA,
            pointer,
            "the value is not of the expected form",
        ),
        Kind::Other(why) => check.value(Code::SCHEMA, pointer, why.replace('\'', "`")),
    }
}

fn unknown_key(refusal: &Refusal, key: &str, check: &Check<'_>, schema: &Value) -> Finding {
    let pointer = child(&refusal.pointer, key);
    let removed = REMOVED
        .iter()
        .find(|(at, name, _)| *at == refusal.pointer && *name == key);
    if let Some((_, _, instead)) = removed {
        let message = format!("`{}` is no longer part of the format", dotted(&pointer));
        return check
            .key(Code::REMOVED_KEY, &pointer, message)
            .help(*instead);
    }
    let known = refusal.known_keys(schema);
    let inside = if refusal.pointer.is_empty() {
        String::new()
    } else {
        format!(" in `{}`", dotted(&refusal.pointer))
    };
    let found = check.key(
        Code::UNKNOWN_KEY,
        &pointer,
        format!("unknown key `{key}`{inside}"),
    );
    match check.near(key, known.iter().copied()) {
        Some(near) => found
            .label("not known here")
            .help(format!("did you mean `{near}`?")),
        None => found
            .label("not known here")
            .help(format!("known here: {}", list(known))),
    }
}

fn missing_key(pointer: &str, key: &str, check: &Check<'_>) -> Finding {
    let place = quoted(pointer);
    let found = Finding::error(
        Code::MISSING_KEY,
        check.key_span(pointer),
        format!("`{key}` is missing in {place}"),
    );
    let found = found.at(pointer);
    match (pointer, key) {
        ("", "name") => found.help("add `name:`, 3 to 32 lower-case letters, digits and hyphens"),
        ("", "apiVersion") => found.help("add `apiVersion: cp9.tidbcloud.com/v1alpha2`"),
        ("", "kind") => found.help("add `kind: Session`"),
        (_, "build") => found.help("add `build:` with `main:` or `command:`"),
        _ => found.help(format!("add `{key}:`")),
    }
}

fn wrong_type(pointer: &str, wanted: &[Type], check: &Check<'_>) -> Finding {
    let got = check.json.pointer(pointer).unwrap_or(&Value::Null);
    let shown: Vec<_> = wanted
        .iter()
        .filter(|t| **t != Type::Null || wanted.len() == 1)
        .map(|t| word(*t))
        .collect();
    let whole = wanted.contains(&Type::Integer) && got.is_number();
    let got_word = match got {
        _ if whole => "a number with a fraction",
        // The word itself may be a password.
        Value::Bool(_) if pointer.starts_with("/secrets/") => "a yes or no",
        _ => word_of(got),
    };
    let message = format!(
        "{} must be {}, not {got_word}",
        quoted(pointer),
        shown.join(" or ")
    );
    let found = check
        .value(Code::WRONG_TYPE, pointer, message)
        .label(format!("{} expected", shown.join(" or ")));
    let wants_text = wanted.contains(&Type::String);
    let plain = check
        .spans
        .node(pointer)
        .is_some_and(|node| node.style == Style::Plain);
    match got {
        Value::Bool(_) | Value::Number(_) if wants_text && plain => {
            found.help("put the value in quotes")
        }
        Value::String(_) if wanted.contains(&Type::Array) => {
            found.help("write a list: `[…]`, or `- …` lines below the key")
        }
        Value::String(_) if !plain && !wants_text => found.help("write the value without quotes"),
        Value::Null => found.help("give it a value or remove the key"),
        _ => found,
    }
}

fn not_allowed(pointer: &str, values: &[Value], check: &Check<'_>) -> Finding {
    let words: Vec<_> = values
        .iter()
        .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
        .collect();
    let got = check.json.pointer(pointer).unwrap_or(&Value::Null);
    let shown = match got {
        Value::String(text) => format!("`{}`", text.chars().take(60).collect::<String>()),
        other => word_of(other).to_owned(),
    };
    let message = format!("`{}` cannot be {shown}", dotted(pointer));
    let found = check.value(Code::NOT_ALLOWED, pointer, message);
    let near = got
        .as_str()
        .and_then(|text| check.near(text, words.iter().map(String::as_str)));
    match near {
        Some(near) => found.help(format!("did you mean `{near}`? allowed: {}", list(&words))),
        None => found.help(format!("allowed: {}", list(&words))),
    }
}

fn quoted(pointer: &str) -> String {
    let place = dotted(pointer);
    if pointer.is_empty() {
        place
    } else {
        format!("`{place}`")
    }
}

fn bound(pointer: &str, bound: &str, check: &Check<'_>) -> Finding {
    check.value(
        Code::NOT_ALLOWED,
        pointer,
        format!("`{}` must be {bound}", dotted(pointer)),
    )
}

fn word(kind: Type) -> &'static str {
    match kind {
        Type::Null => "nothing",
        Type::Boolean => "`true` or `false`",
        Type::Number => "a number",
        Type::Integer => "a whole number",
        Type::String => "text",
        Type::Array => "a list",
        Type::Object => "a mapping",
    }
}

fn word_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(true) => "`true`",
        Value::Bool(false) => "`false`",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
