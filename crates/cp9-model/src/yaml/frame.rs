//! Unfinished collections: keys that wait for values, repeated keys, merge keys.

use std::collections::HashMap;
use std::ops::Range;

use super::node::{Entry, Node, Value};
use super::spans::escape;

/// An unfinished collection.
pub(super) struct Frame {
    pub(super) node: Node,
    pub(super) anchor: usize,
    /// What the budget had spent when it was opened.
    pub(super) weight: usize,
    /// The key that waits for its value.
    pub(super) key: Option<Key>,
    /// The keys so far, with their lines.
    pub(super) seen: HashMap<String, usize>,
    merges: Vec<Node>,
}

/// A key that waits for its value.
pub(super) struct Key {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    pub(super) merge: bool,
}

impl Frame {
    pub(super) fn new(node: Node, anchor: usize, weight: usize) -> Self {
        Self {
            node,
            anchor,
            weight,
            key: None,
            seen: HashMap::new(),
            merges: Vec::new(),
        }
    }

    /// True if the next node is a key.
    pub(super) fn wants_key(&self) -> bool {
        matches!(self.node.value, Value::Mapping(_)) && self.key.is_none()
    }

    /// The token of a JSON pointer that leads to the node in the making.
    pub(super) fn token(&self) -> String {
        match (&self.node.value, &self.key) {
            (Value::Sequence(items), _) => items.len().to_string(),
            (_, key) => key
                .as_ref()
                .map(|key| escape(&key.text))
                .unwrap_or_default(),
        }
    }

    /// Takes an item, or the value of the waiting key; a merge that merges nothing comes back.
    pub(super) fn attach(&mut self, node: Node) -> Result<(), Range<usize>> {
        match (&mut self.node.value, self.key.take()) {
            (Value::Sequence(items), _) => items.push(node),
            (_, Some(key)) if key.merge => return self.add_merge(key, node),
            (Value::Mapping(entries), Some(key)) => {
                entries.push(Entry {
                    key: key.text,
                    key_span: key.span,
                    value: node,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn add_merge(&mut self, key: Key, node: Node) -> Result<(), Range<usize>> {
        let is_mapping = |node: &Node| matches!(node.value, Value::Mapping(_));
        match node.value {
            Value::Mapping(_) => self.merges.push(node),
            Value::Sequence(items) if items.iter().all(is_mapping) => self.merges.extend(items),
            _ => return Err(key.span),
        }
        Ok(())
    }

    /// The finished collection; `end` is where its closing bracket ends.
    pub(super) fn finish(mut self, end: Option<usize>) -> Node {
        let last = match &self.node.value {
            Value::Sequence(items) => items.last().map(|item| item.span.end),
            Value::Mapping(entries) => entries
                .last()
                .map(|entry| entry.value.span.end.max(entry.key_span.end)),
            _ => None,
        };
        let end = end.or(last).unwrap_or(self.node.span.end);
        self.node.span.end = end.max(self.node.span.end);
        self.merge();
        self.node
    }

    /// Adds the merged pairs that the mapping does not set itself; earlier merges win.
    fn merge(&mut self) {
        let Value::Mapping(entries) = &mut self.node.value else {
            return;
        };
        for node in std::mem::take(&mut self.merges) {
            let Value::Mapping(pairs) = node.value else {
                continue;
            };
            for pair in pairs {
                if !self.seen.contains_key(&pair.key) {
                    self.seen.insert(pair.key.clone(), 0);
                    entries.push(pair);
                }
            }
        }
    }
}
