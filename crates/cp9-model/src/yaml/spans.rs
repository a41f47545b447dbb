//! From a JSON pointer to the place in the text.

use std::ops::Range;

use super::node::{Node, Value};

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The value's bytes.
    pub value: Range<usize>,
    /// The bytes of its key, if it is the value of a mapping.
    pub key: Option<Range<usize>>,
}

impl Place {
    /// The key if there is one, else the value.
    pub fn key_or_value(&self) -> Range<usize> {
        self.key.clone().unwrap_or_else(|| self.value.clone())
    }

    /// The value, or the key where the value is left out.
    pub fn value_or_key(&self) -> Range<usize> {
        if self.value.is_empty() {
            self.key_or_value()
        } else {
            self.value.clone()
        }
    }
}

/// Looks places up in a tree.
#[derive(Debug, Clone, Copy)]
pub struct Spans<'a> {
    root: &'a Node,
}

impl<'a> Spans<'a> {
    /// The places of a tree.
    pub fn new(root: &'a Node) -> Self {
        Self { root }
    }

    /// The place of a value; none if there is no such value.
    pub fn get(&self, pointer: &str) -> Option<Place> {
        self.find(pointer).map(|(node, key)| Place {
            value: node.span.clone(),
            key,
        })
    }

    /// The place of a value, or of its nearest ancestor that exists.
    pub fn nearest(&self, pointer: &str) -> Place {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.get(pointer) {
                return place;
            }
            let Some(at) = pointer.rfind('/') else {
                return Place {
                    value: self.root.span.clone(),
                    key: None,
                };
            };
            pointer = &pointer[..at];
        }
    }

    /// The node of a value.
    pub fn node(&self, pointer: &str) -> Option<&'a Node> {
        self.find(pointer).map(|(node, _)| node)
    }

    fn find(self, pointer: &str) -> Option<(&'a Node, Option<Range<usize>>)> {
        let mut found = (self.root, None);
        if pointer.is_empty() {
            return Some(found);
        }
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            found = match &found.0.value {
                Value::Mapping(_) => {
                    let entry = found.0.entry(&token)?;
                    (&entry.value, Some(entry.key_span.clone()))
                }
                Value::Sequence(items) => (items.get(token.parse::<usize>().ok()?)?, None),
                _ => return None,
            };
        }
        Some(found)
    }
}

/// A key as a token of a JSON pointer.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
