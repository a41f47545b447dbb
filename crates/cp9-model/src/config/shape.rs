//! Pass 1: the document against the schema, every error turned into a finding at its place.

mod boon_errors;
mod words;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use super::check::{Check, MOST, child};
use super::schema;
use crate::diagnostic::Code;

const URL: &str = "mem:///cp9.schema.json";

/// The schema, compiled.
pub(super) struct Shape {
    schema: Value,
    schemas: Schemas,
    index: SchemaIndex,
}

impl Shape {
    /// Compiles the schema of the session file.
    pub(super) fn compile() -> Self {
        let mut schema = schema::generate();
        if let Value::Object(keys) = &mut schema {
            keys.shift_remove("$id");
        }
        let mut compiler = Compiler::new();
        let mut schemas = Schemas::new();
        let added = compiler.add_resource(URL, schema.clone());
        added.expect("the schema is made from the types and well-formed");
        let index = compiler
            .compile(URL, &mut schemas)
            .expect("the schema refers to nothing outside of itself");
        Self {
            schema,
            schemas,
            index,
        }
    }

    /// Adds what the schema refuses, and returns the document without the refused parts;
    /// none if nothing sound is left.
    pub(super) fn check(&self, check: &mut Check<'_>) -> Option<Value> {
        let mut sound = check.json.clone();
        let mut found = self.refusals(&sound);
        found.retain(|refusal| !refusal.left_to_rules());
        for refusal in found.iter().take(MOST) {
            let finding = words::finding(refusal, check, &self.schema);
            check.findings.push(finding);
        }
        if found.len() > MOST {
            check.more += found.len() - MOST;
            return None;
        }
        let pointers: Vec<_> = found
            .iter()
            .map(boon_errors::Refusal::settled_pointer)
            .collect();
        check.settle(pointers);
        self.prune(&mut sound, found).then_some(sound)
    }

    /// Whether the document holds anything that the rules of pass 2 should have refused.
    pub(super) fn leftovers(&self, check: &mut Check<'_>) {
        for refusal in self.refusals(check.json) {
            let pointer = refusal.pointer.clone();
            let finding = check.value(
                Code::SCHEMA,
                &pointer,
                "the value does not have the form that the schema asks for",
            );
            check.add(finding);
        }
    }

    fn refusals(&self, json: &Value) -> Vec<boon_errors::Refusal> {
        match self.schemas.validate(json, self.index) {
            Ok(()) => Vec::new(),
            Err(error) => boon_errors::flatten(&error, json),
        }
    }

    /// Removes refused parts until what is left satisfies the schema.
    fn prune(&self, json: &mut Value, mut found: Vec<boon_errors::Refusal>) -> bool {
        // Each round removes something, so the document's own depth bounds the rounds that matter.
        for _ in 0..64 {
            found.retain(|refusal| !refusal.left_to_rules());
            if found.is_empty() {
                return true;
            }
            for refusal in &found {
                if !remove(json, &refusal.removed_pointer()) {
                    return false;
                }
            }
            found = self.refusals(json);
        }
        false
    }
}

/// Removes a value; false for the whole document.
fn remove(json: &mut Value, pointer: &str) -> bool {
    let Some((parent, token)) = pointer.rsplit_once('/') else {
        return false;
    };
    let token = token.replace("~1", "/").replace("~0", "~");
    match json.pointer_mut(parent) {
        Some(Value::Object(keys)) => {
            keys.shift_remove(&token);
        }
        // An item becomes null, so that the pointers of its neighbours stay right.
        Some(Value::Array(items)) => {
            if let Some(item) = token.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                if item.is_null() {
                    return remove(json, parent);
                }
                *item = Value::Null;
            }
        }
        _ => {}
    }
    true
}

impl boon_errors::Refusal {
    /// The pointer about which later passes stay silent.
    pub(super) fn settled_pointer(&self) -> String {
        match &self.kind {
            boon_errors::Kind::UnknownKey(key) | boon_errors::Kind::MissingKey(key) => {
                child(&self.pointer, key)
            }
            _ => self.pointer.clone(),
        }
    }

    /// The pointer of what must go for the rest to be sound.
    fn removed_pointer(&self) -> String {
        match &self.kind {
            boon_errors::Kind::UnknownKey(key) => child(&self.pointer, key),
            _ => self.pointer.clone(),
        }
    }
}
