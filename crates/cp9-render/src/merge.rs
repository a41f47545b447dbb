//! JSON merge patch, RFC 7396.

use serde_json::{Map, Value};

/// Merges a patch into a value: `null` removes, mappings merge, everything else replaces.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            target.shift_remove(key);
        } else {
            merge(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_follows_rfc_7396() {
        let mut target = serde_json::json!({"a": {"b": 1, "c": [1]}, "d": 2});
        merge(
            &mut target,
            &serde_json::json!({"a": {"b": null, "c": [2]}, "e": {"f": null, "g": 1}}),
        );
        assert_eq!(
            target,
            serde_json::json!({"a": {"c": [2]}, "d": 2, "e": {"g": 1}})
        );
    }
}
