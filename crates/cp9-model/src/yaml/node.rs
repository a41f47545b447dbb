//! The tree: nodes with value, place, style and tag.

use std::ops::Range;

use serde_json::{Map, Number};

use super::spans::Spans;

/// One document of a text.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its content; null for an empty document.
    pub root: Node,
    /// The bytes that belong to it, marker and comments included. The ranges of all documents
    /// of a text follow each other without a gap and cover it.
    pub range: Range<usize>,
    /// True if it holds nothing but comments.
    pub empty: bool,
}

impl Document {
    /// The document as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        self.root.to_json()
    }

    /// The places of its values by JSON pointer.
    pub fn spans(&self) -> Spans<'_> {
        Spans::new(&self.root)
    }
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its bytes in the text; an alias carries the place of what it stands for.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// How it is written.
    pub style: Style,
    /// Its tag as written out in full, such as `tag:yaml.org,2002:str` or `!mine`.
    pub tag: Option<Box<str>>,
}

/// A resolved value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number with a JSON form.
    Number(Number),
    /// Text.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Pairs in their order; merge keys are already applied, their pairs stand last.
    Mapping(Vec<Entry>),
}

/// One pair of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as JSON spells it.
    pub key: String,
    /// The key's bytes in the text.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
}

/// How a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A scalar without quotes.
    Plain,
    /// `'…'`.
    SingleQuoted,
    /// `"…"`.
    DoubleQuoted,
    /// `|`.
    Literal,
    /// `>`.
    Folded,
    /// A collection by indentation.
    Block,
    /// A collection in brackets.
    Flow,
}

impl Node {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The pair of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        let Value::Mapping(entries) = &self.value else {
            return None;
        };
        entries.iter().find(|entry| entry.key == key)
    }

    /// The text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The node as JSON. Nesting is bounded by the parse.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Number(number) => number.clone().into(),
            Value::String(text) => text.clone().into(),
            Value::Sequence(items) => items.iter().map(Self::to_json).collect(),
            Value::Mapping(entries) => {
                let pairs = entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()));
                serde_json::Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}
