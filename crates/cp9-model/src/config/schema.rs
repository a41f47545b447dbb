//! The published JSON Schemas, made from the types; the committed files under `schemas/` are
//! compared with these.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::raw::Session;
use crate::devplan::DevPlan;
use crate::facts::SessionFacts;
use crate::output::Envelope;

/// The schema of the session file.
pub fn generate() -> Value {
    of::<Session>("cp9.schema.json")
}

/// The schema of the dev plan.
pub fn devplan() -> Value {
    of::<DevPlan>("devplan.schema.json")
}

/// The schema of the JSON envelope.
pub fn output() -> Value {
    of::<Envelope>("output.schema.json")
}

/// The schema of the session facts.
pub fn facts() -> Value {
    of::<SessionFacts>("facts.schema.json")
}

/// Every published schema with its file name below `schemas/`.
pub fn all() -> [(&'static str, Value); 4] {
    [
        ("cp9.schema.json", generate()),
        ("devplan.schema.json", devplan()),
        ("facts.schema.json", facts()),
        ("output.schema.json", output()),
    ]
}

/// A schema as the committed file holds it.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

fn of<T: JsonSchema>(id: &str) -> Value {
    let schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    let mut value = schema.to_value();
    if let Value::Object(keys) = &mut value {
        // Relative, so that the schema means the same wherever the file is put.
        keys.shift_insert(0, "$id".into(), id.into());
        if let Some(dialect) = keys.shift_remove("$schema") {
            keys.shift_insert(0, "$schema".into(), dialect);
        }
    }
    value
}
