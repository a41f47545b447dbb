//! The directives of strategic merge patches: their words, and what must hold of a patch whatever
//! object it meets.

use serde_json::{Map, Value};

use super::Refused;
use super::fields::{self, Strategy};
use crate::nearest::nearest;
use crate::problem::token;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// What `$patch` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

/// The directive of an element.
pub(super) fn of(element: &Map<String, Value>) -> Directive {
    match element.get(PATCH).and_then(Value::as_str) {
        Some("replace") => Directive::Replace,
        Some("delete") => Directive::Delete,
        _ => Directive::Merge,
    }
}

/// True for a key that is no field of the object.
pub(super) fn is_directive(key: &str) -> bool {
    key.starts_with('$')
}

/// The fields of a patch that are fields of the object.
pub(super) fn plain(patch: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    patch.iter().filter(|(key, _)| !is_directive(key))
}

/// The keys that `$retainKeys` keeps, if it is there.
pub(super) fn retained(patch: &Map<String, Value>) -> Option<Vec<&str>> {
    let keys = patch.get(RETAIN_KEYS)?.as_array()?;
    Some(keys.iter().filter_map(Value::as_str).collect())
}

/// The lists that lose plain values, and those values.
pub(super) fn deleted(patch: &Map<String, Value>) -> impl Iterator<Item = (&str, &[Value])> {
    patch.iter().filter_map(|(key, values)| {
        Some((
            key.strip_prefix(DELETE_FROM)?,
            values.as_array()?.as_slice(),
        ))
    })
}

/// Refuses a patch that no object could take.
pub(super) fn check(patch: &Value, kind: &str) -> Result<(), Refused> {
    value(patch, kind, Strategy::Plain, "")
}

fn value(patch: &Value, of: &str, strategy: Strategy, at: &str) -> Result<(), Refused> {
    match patch {
        Value::Object(fields) => {
            fields.iter().try_for_each(|(key, value)| {
                let at = child(at, key);
                if is_directive(key) {
                    return word(key, value, at);
                }
                let field = fields::field(of, key);
                self::value(value, field.of, field.strategy, &at)
            })?;
            keeps_what_it_sets(fields, at)
        }
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .try_for_each(|(index, element)| {
                let at = format!("{at}/{index}");
                if let Strategy::Keyed(key) = strategy {
                    has_key(element, key, &at)?;
                }
                value(element, of, Strategy::Plain, &at)
            }),
        _ => Ok(()),
    }
}

fn word(key: &str, value: &Value, at: String) -> Result<(), Refused> {
    let wrong = |message: String, help: &str| Err(Refused::new(at, message, help));
    if key == PATCH {
        return match value.as_str() {
            Some("merge" | "replace" | "delete") => Ok(()),
            _ => wrong(
                format!("the word of `{PATCH}` is not known"),
                "write `delete`, `replace` or `merge`",
            ),
        };
    }
    let is_list = key == RETAIN_KEYS || key.starts_with(DELETE_FROM);
    if is_list && !value.is_array() {
        return wrong(format!("`{key}` must be a list"), "write it as a list");
    }
    if is_list || key.starts_with(SET_ORDER) {
        return Ok(());
    }
    let help = match nearest(key, [PATCH, RETAIN_KEYS, SET_ORDER, DELETE_FROM]) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are `{PATCH}`, `{RETAIN_KEYS}` and `{DELETE_FROM}FIELD`"),
    };
    wrong(
        format!("`{key}` is no directive of a strategic merge patch"),
        &help,
    )
}

/// A patch may not set what its own `$retainKeys` takes away.
fn keeps_what_it_sets(patch: &Map<String, Value>, at: &str) -> Result<(), Refused> {
    let Some(kept) = retained(patch) else {
        return Ok(());
    };
    let lost = plain(patch).find(|(key, value)| !value.is_null() && !kept.contains(&key.as_str()));
    let Some((key, _)) = lost else {
        return Ok(());
    };
    Err(Refused::new(
        child(at, RETAIN_KEYS),
        format!("the patch sets `{key}`, which `{RETAIN_KEYS}` does not keep"),
        format!("add `{key}` to the list"),
    ))
}

/// An element of a list with a merge key says which one it is, or that it replaces them all.
fn has_key(element: &Value, key: &str, at: &str) -> Result<(), Refused> {
    let Value::Object(fields) = element else {
        return Err(Refused::new(
            at,
            format!("this list holds mappings with `{key}`"),
            "write the element as a mapping",
        ));
    };
    if of(fields) == Directive::Replace || fields.get(key).is_some_and(|id| !id.is_null()) {
        return Ok(());
    }
    Err(Refused::new(
        at,
        format!("an element of this list is found by its `{key}`, which is missing"),
        format!("add `{key}:`"),
    ))
}

fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", token(key))
}
