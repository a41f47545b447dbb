//! Strategic merge patches, as `kubectl patch` applies them: mappings merge, lists of the API's
//! merge keys merge by key, every other list is replaced. `$patch` decides otherwise for the
//! element that holds it; `$setElementOrder` is ignored.

use serde_json::{Map, Value};

use super::Refused;
use super::fields::{self, Field, Strategy};
use super::order;
use crate::nearest::nearest;
use crate::problem::token;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// What `$patch` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// The object after a patch; none if the patch deletes it.
pub(super) fn merge(original: &Value, patch: &Value, kind: &str) -> Result<Option<Value>, Refused> {
    mapping(original, patch, kind, "")
}

fn mapping(original: &Value, patch: &Value, of: &str, at: &str) -> Result<Option<Value>, Refused> {
    let (Value::Object(original), Value::Object(fields)) = (original, patch) else {
        return clean(patch, at);
    };
    match directive(fields, at)? {
        Directive::Delete => return Ok(None),
        Directive::Replace => return clean(patch, at),
        Directive::Merge => {}
    }
    let mut merged = original.clone();
    retain(&mut merged, fields, at)?;
    for (key, values) in fields {
        if let Some(field) = key.strip_prefix(DELETE_FROM) {
            delete_from(&mut merged, field, values, &child(at, key))?;
        }
    }
    for (key, value) in fields.iter().filter(|(key, _)| !is_directive(key)) {
        let at = child(at, key);
        let field = fields::field(of, key);
        let value = match merged.get(key).filter(|known| !known.is_null()) {
            _ if value.is_null() => None,
            Some(Value::Array(known)) if value.is_array() => Some(list(known, value, field, &at)?),
            Some(known) if field.strategy != Strategy::Replace => {
                mapping(known, value, field.of, &at)?
            }
            _ => clean(value, &at)?,
        };
        match value {
            Some(value) => drop(merged.insert(key.clone(), value)),
            None => drop(merged.shift_remove(key)),
        }
    }
    Ok(Some(Value::Object(merged)))
}

fn list(original: &[Value], patch: &Value, field: Field, at: &str) -> Result<Value, Refused> {
    let patch = patch.as_array().map_or(&[][..], Vec::as_slice);
    match field.strategy {
        Strategy::Keyed(key) => keyed(original, patch, field.of, key, at),
        Strategy::Set => Ok(order::union(original, patch).into()),
        Strategy::Plain | Strategy::Replace => elements(patch, at).map(Value::Array),
    }
}

/// A list whose elements are matched by a key.
fn keyed(
    original: &[Value],
    patch: &[Value],
    of: &str,
    key: &str,
    at: &str,
) -> Result<Value, Refused> {
    let mut merged = original.to_vec();
    let mut told = Vec::new();
    let mut replace = false;
    for (index, element) in patch.iter().enumerate() {
        let at = format!("{at}/{index}");
        let Value::Object(fields) = element else {
            return Err(Refused::new(
                at,
                format!("this list holds mappings with `{key}`"),
                "write the element as a mapping",
            ));
        };
        let directive = directive(fields, &at)?;
        if directive == Directive::Replace {
            replace = true;
            continue;
        }
        let Some(id) = fields.get(key) else {
            return Err(no_key(at, key));
        };
        if directive == Directive::Delete {
            merged.retain(|known| known.get(key) != Some(id));
            continue;
        }
        told.push(element);
        match merged.iter_mut().find(|known| known.get(key) == Some(id)) {
            Some(known) => *known = mapping(known, element, of, &at)?.unwrap_or(Value::Null),
            None => merged.extend(clean(element, &at)?),
        }
    }
    if replace {
        return elements(patch, at).map(Value::Array);
    }
    let id = |value: &Value| value.get(key).cloned();
    let told: Vec<Value> = told.into_iter().cloned().collect();
    Ok(order::interleave(merged, &told, original, &id).into())
}

fn no_key(at: String, key: &str) -> Refused {
    Refused::new(
        at,
        format!("an element of this list is found by its `{key}`, which is missing"),
        format!("add `{key}:`"),
    )
}

/// Removes plain values from a list.
fn delete_from(
    merged: &mut Map<String, Value>,
    field: &str,
    values: &Value,
    at: &str,
) -> Result<(), Refused> {
    let Value::Array(values) = values else {
        return Err(Refused::new(
            at,
            format!("`{DELETE_FROM}{field}` must be a list of the values to remove"),
            "write it as a list",
        ));
    };
    if let Some(Value::Array(known)) = merged.get_mut(field) {
        known.retain(|value| !values.contains(value));
    }
    Ok(())
}

/// Keeps only the keys that `$retainKeys` lists.
fn retain(
    merged: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    at: &str,
) -> Result<(), Refused> {
    let Some(keys) = patch.get(RETAIN_KEYS) else {
        return Ok(());
    };
    let at = child(at, RETAIN_KEYS);
    let Value::Array(keys) = keys else {
        return Err(Refused::new(
            at,
            format!("`{RETAIN_KEYS}` must be a list of keys"),
            "write it as a list",
        ));
    };
    let kept = |key: &String| keys.iter().any(|kept| kept.as_str() == Some(key));
    let left_out = patch
        .iter()
        .find(|(key, value)| !is_directive(key) && !value.is_null() && !kept(key));
    if let Some((key, _)) = left_out {
        return Err(Refused::new(
            at,
            format!("the patch sets `{key}`, which `{RETAIN_KEYS}` does not keep"),
            format!("add `{key}` to the list"),
        ));
    }
    merged.retain(|key, _| kept(key));
    Ok(())
}

fn directive(fields: &Map<String, Value>, at: &str) -> Result<Directive, Refused> {
    for key in fields.keys().filter(|key| key.starts_with('$')) {
        let known = key == PATCH || key == RETAIN_KEYS;
        if known || key.starts_with(SET_ORDER) || key.starts_with(DELETE_FROM) {
            continue;
        }
        let words = [PATCH, RETAIN_KEYS, SET_ORDER, DELETE_FROM];
        let help = match nearest(key, words) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are `{PATCH}`, `{RETAIN_KEYS}` and `{DELETE_FROM}FIELD`"),
        };
        let message = format!("`{key}` is no directive of a strategic merge patch");
        return Err(Refused::new(child(at, key), message, help));
    }
    let word = fields.get(PATCH).unwrap_or(&Value::Null);
    match word.as_str() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        None if !fields.contains_key(PATCH) => Ok(Directive::Merge),
        _ => Err(Refused::new(
            child(at, PATCH),
            format!("the word of `{PATCH}` is not known"),
            "write `delete`, `replace` or `merge`",
        )),
    }
}

fn is_directive(key: &str) -> bool {
    key.starts_with('$')
}

/// A value that is taken as it is: without directives, without `null`s in mappings, without what
/// it deletes itself.
fn clean(value: &Value, at: &str) -> Result<Option<Value>, Refused> {
    match value {
        Value::Object(fields) => {
            if directive(fields, at)? == Directive::Delete {
                return Ok(None);
            }
            let mut kept = Map::new();
            for (key, value) in fields {
                if value.is_null() || is_directive(key) {
                    continue;
                }
                if let Some(value) = clean(value, &child(at, key))? {
                    kept.insert(key.clone(), value);
                }
            }
            Ok(Some(Value::Object(kept)))
        }
        Value::Array(values) => elements(values, at).map(Value::Array).map(Some),
        other => Ok(Some(other.clone())),
    }
}

/// The elements of a list that is taken as it is; those that only say `replace` say nothing here.
fn elements(values: &[Value], at: &str) -> Result<Vec<Value>, Refused> {
    let mut kept = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let at = format!("{at}/{index}");
        let replaces = match value {
            Value::Object(fields) => directive(fields, &at)? == Directive::Replace,
            _ => false,
        };
        if !replaces {
            kept.extend(clean(value, &at)?);
        }
    }
    Ok(kept)
}

fn child(at: &str, key: &str) -> String {
    format!("{at}/{}", token(key))
}
