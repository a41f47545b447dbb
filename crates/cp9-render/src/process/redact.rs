//! Manifests as they are written for people: without the values of Secrets.

use serde_json::Value;

use crate::manifest::Manifest;

/// What stands in place of a secret value.
pub(crate) const REDACTED: &str = "<redacted>";

/// The object, with the values of a Secret taken out, also from what kubectl keeps beside it.
pub(crate) fn manifest(manifest: &Manifest) -> Value {
    let mut value = manifest.value.clone();
    if manifest.kind() == "Secret" {
        for field in ["data", "stringData"] {
            for (_, value) in value
                .get_mut(field)
                .and_then(Value::as_object_mut)
                .into_iter()
                .flatten()
            {
                *value = REDACTED.into();
            }
        }
        for (key, value) in value
            .pointer_mut("/metadata/annotations")
            .and_then(Value::as_object_mut)
            .into_iter()
            .flatten()
        {
            if key.ends_with("/last-applied-configuration") {
                *value = REDACTED.into();
            }
        }
    }
    value
}
