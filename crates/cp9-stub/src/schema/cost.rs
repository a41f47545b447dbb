//! What it costs to validate a value, known before it is done: schemas that refer to each other
//! twice at each of forty levels take a validator longer than anybody waits.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::contract::Document;

/// The highest cost that is told apart.
const MOST: u64 = 1_000_000;
/// The most pairs of schema and value that are looked at.
const PAIRS: usize = 200_000;
/// The deepest nesting of schemas and values together; a validator recurses as deep.
const DEEPEST: usize = 200;

/// The cost of one question.
pub(crate) struct Cost<'d> {
    document: &'d Document,
    known: HashMap<(usize, usize), u64>,
    depth: usize,
}

impl<'d> Cost<'d> {
    /// How many schemas a validator applies to the value and its parts, `MOST` for too many.
    pub(crate) fn of(document: &'d Document, list: &[&'d Value], value: &Value) -> u64 {
        let mut cost = Self {
            document,
            known: HashMap::new(),
            depth: 0,
        };
        let all = list.iter().map(|node| cost.one(node, value));
        all.fold(0, add)
    }

    fn one(&mut self, node: &'d Value, value: &Value) -> u64 {
        let Ok(node) = self.document.follow(node) else {
            return 1;
        };
        let Some(map) = node.as_object() else {
            return 1;
        };
        let address = |value: &Value| std::ptr::from_ref(value).addr();
        let key = (address(node), address(value));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.depth >= DEEPEST || self.known.len() >= PAIRS {
            return MOST;
        }
        // A schema that leads back to itself is the validator's to refuse.
        self.known.insert(key, 1);
        self.depth += 1;
        let sum = add(self.applied(map, value), self.inner(map, value));
        self.depth -= 1;
        self.known.insert(key, sum);
        sum
    }

    /// Schemas that are applied to the value itself.
    fn applied(&mut self, map: &'d Map<String, Value>, value: &Value) -> u64 {
        let listed = map
            .get("enum")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        let mut sum = 1 + listed as u64 / 16;
        if let Value::String(text) = value
            && map.contains_key("pattern")
        {
            sum += 4 + text.len() as u64 / 16;
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            // With a discriminator each branch is applied once more, with its tag.
            let times = if map.contains_key("discriminator") {
                2
            } else {
                1
            };
            let list = map.get(key).and_then(Value::as_array);
            for child in list.into_iter().flatten() {
                sum = add(sum, self.one(child, value).saturating_mul(times));
            }
        }
        map.get("not")
            .map_or(sum, |child| add(sum, self.one(child, value)))
    }

    /// Schemas that are applied to its members.
    fn inner(&mut self, map: &'d Map<String, Value>, value: &Value) -> u64 {
        let declared = map.get("properties");
        let others = map.get("additionalProperties");
        match value {
            Value::Object(members) => members.iter().fold(0, |sum, (name, inner)| {
                let own = declared.and_then(|declared| declared.get(name));
                let child = own.or(others);
                add(sum, child.map_or(0, |child| self.one(child, inner)))
            }),
            Value::Array(items) => items.iter().fold(0, |sum, inner| {
                let child = map.get("items");
                add(sum, child.map_or(0, |child| self.one(child, inner)))
            }),
            _ => 0,
        }
    }
}

fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(MOST)
}
