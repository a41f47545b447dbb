//! Strategic merge patches, as `kubectl patch` applies them: mappings merge, lists of the API's
//! merge keys merge by key, every other list is replaced. `$patch` decides otherwise for the
//! element that holds it; `$setElementOrder` is ignored.

use serde_json::{Map, Value};

use super::directives::{self, Directive};
use super::fields::{self, Field, Strategy};
use super::{Refused, order};

/// The object after a patch; none if the patch deletes it.
pub(super) fn merge(original: &Value, patch: &Value, kind: &str) -> Result<Option<Value>, Refused> {
    directives::check(patch, kind)?;
    Ok(mapping(original, patch, kind))
}

fn mapping(original: &Value, patch: &Value, of: &str) -> Option<Value> {
    let (Value::Object(original), Value::Object(patch_fields)) = (original, patch) else {
        return clean(patch);
    };
    match directives::of(patch_fields) {
        Directive::Delete => return None,
        Directive::Replace => return clean(patch),
        Directive::Merge => {}
    }
    let mut merged = original.clone();
    if let Some(kept) = directives::retained(patch_fields) {
        merged.retain(|key, _| kept.contains(&key.as_str()));
    }
    for (field, values) in directives::deleted(patch_fields) {
        if let Some(Value::Array(known)) = merged.get_mut(field) {
            known.retain(|value| !values.contains(value));
        }
    }
    for (key, value) in directives::plain(patch_fields) {
        let known = merged.get(key).filter(|known| !known.is_null());
        match field(known, value, fields::field(of, key)) {
            Some(value) => drop(merged.insert(key.clone(), value)),
            None => drop(merged.shift_remove(key)),
        }
    }
    Some(Value::Object(merged))
}

/// The value of a field after a patch; none if it goes.
fn field(known: Option<&Value>, patch: &Value, field: Field) -> Option<Value> {
    if patch.is_null() {
        return None;
    }
    match (known, patch) {
        (Some(Value::Array(known)), Value::Array(patch)) => Some(list(known, patch, field)),
        (Some(known), _) if field.strategy != Strategy::Replace => mapping(known, patch, field.of),
        _ => clean(patch),
    }
}

fn list(original: &[Value], patch: &[Value], field: Field) -> Value {
    let merged = match field.strategy {
        Strategy::Keyed(key) => keyed(original, patch, field.of, key),
        Strategy::Set => order::union(original, patch),
        Strategy::Plain | Strategy::Replace => elements(patch),
    };
    Value::Array(merged)
}

/// A list whose elements are matched by a key.
fn keyed(original: &[Value], patch: &[Value], of: &str, key: &str) -> Vec<Value> {
    let says = |element: &Value, wanted| {
        let fields = element.as_object();
        fields.is_some_and(|fields| directives::of(fields) == wanted)
    };
    if patch
        .iter()
        .any(|element| says(element, Directive::Replace))
    {
        return elements(patch);
    }
    let (gone, told): (Vec<&Value>, Vec<&Value>) = patch
        .iter()
        .partition(|element| says(element, Directive::Delete));
    let is_gone = |known: &Value| gone.iter().any(|gone| gone.get(key) == known.get(key));
    let mut merged: Vec<Value> = original
        .iter()
        .filter(|known| !is_gone(known))
        .cloned()
        .collect();
    for element in &told {
        let same = |known: &&mut Value| known.get(key) == element.get(key);
        match merged.iter_mut().find(same) {
            Some(known) => *known = mapping(known, element, of).unwrap_or(Value::Null),
            None => merged.extend(clean(element)),
        }
    }
    let told: Vec<Value> = told.into_iter().cloned().collect();
    order::interleave(merged, &told, original, &|value| value.get(key).cloned())
}

/// A value that is taken as it is: without directives, without `null`s in mappings, without what
/// it deletes itself.
fn clean(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) if directives::of(fields) == Directive::Delete => None,
        Value::Object(fields) => {
            let kept = directives::plain(fields).filter(|(_, value)| !value.is_null());
            let kept = kept.filter_map(|(key, value)| Some((key.clone(), clean(value)?)));
            Some(Value::Object(kept.collect::<Map<String, Value>>()))
        }
        Value::Array(values) => Some(Value::Array(elements(values))),
        other => Some(other.clone()),
    }
}

/// The elements of a list that is taken as it is; those that say `replace` say only that.
fn elements(values: &[Value]) -> Vec<Value> {
    let replaces = |value: &&Value| {
        let fields = value.as_object();
        fields.is_some_and(|fields| directives::of(fields) == Directive::Replace)
    };
    values
        .iter()
        .filter(|value| !replaces(value))
        .filter_map(clean)
        .collect()
}
