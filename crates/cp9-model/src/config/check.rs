//! What every check works with: the document, its places, and the findings so far.

use std::ops::Range;

use serde_json::Value;

use crate::diagnostic::{Code, Finding};
use crate::yaml::{Document, Spans};

/// The findings of one session file.
pub(crate) struct Check<'a> {
    pub(crate) spans: Spans<'a>,
    /// The document as written, problems and all.
    pub(crate) json: &'a Value,
    pub(crate) findings: Vec<Finding>,
    /// Pointers of what an earlier check refused; later ones stay silent about it.
    bad: Vec<String>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(document: &'a Document, json: &'a Value) -> Self {
        Self {
            spans: document.spans(),
            json,
            findings: Vec::new(),
            bad: Vec::new(),
        }
    }

    /// Marks everything found so far as settled.
    pub(crate) fn settle(&mut self, pointers: impl IntoIterator<Item = String>) {
        self.bad.extend(pointers);
    }

    /// True if no earlier check refused the value or something above it.
    pub(crate) fn sound(&self, pointer: &str) -> bool {
        !self
            .bad
            .iter()
            .any(|bad| is_within(pointer, bad) || is_within(bad, pointer))
    }

    /// Adds a finding unless an earlier check already refused that part.
    pub(crate) fn add(&mut self, finding: Finding) {
        if self.sound(&finding.pointer) {
            self.findings.push(finding);
        }
    }

    /// An error at a value.
    pub(crate) fn value(&self, code: Code, pointer: &str, message: impl Into<String>) -> Finding {
        Finding::error(code, self.spans.nearest(pointer).value_or_key(), message).at(pointer)
    }

    /// An error at a value's key.
    pub(crate) fn key(&self, code: Code, pointer: &str, message: impl Into<String>) -> Finding {
        Finding::error(code, self.spans.nearest(pointer).key_or_value(), message).at(pointer)
    }

    /// The place of a value's key, or of the document's first line.
    pub(crate) fn key_span(&self, pointer: &str) -> Range<usize> {
        let place = self.spans.nearest(pointer);
        place
            .key
            .clone()
            .unwrap_or(place.value.start..place.value.start)
    }

    /// The keys of a mapping as written, nulls included.
    pub(crate) fn keys(&self, pointer: &str) -> Vec<&'a str> {
        let mapping = self.json.pointer(pointer).and_then(Value::as_object);
        mapping
            .map(|keys| keys.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }
}

fn is_within(pointer: &str, of: &str) -> bool {
    pointer
        .strip_prefix(of)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The pointer of a child.
pub(crate) fn child(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// A pointer as people write it, `services.source.api`.
pub(crate) fn dotted(pointer: &str) -> String {
    let tokens = pointer.split('/').skip(1);
    tokens
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect::<Vec<_>>()
        .join(".")
}

/// `a`, `b` and `c`, each in backticks.
pub(crate) fn list<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<_> = words
        .into_iter()
        .map(|word| format!("`{}`", word.as_ref()))
        .collect();
    quoted.join(", ")
}

/// The nearest of some words, near enough to be meant.
pub(crate) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let lower = word.to_lowercase();
    let scored = words.into_iter().map(|known| {
        (
            strsim::damerau_levenshtein(&lower, &known.to_lowercase()),
            known,
        )
    });
    let (distance, known) = scored.min()?;
    (distance <= 1 + known.chars().count() / 4).then_some(known)
}
