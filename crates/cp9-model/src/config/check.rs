//! What every check works with: the document, its places, and the findings so far.

use std::ops::Range;

use serde_json::Value;

use crate::diagnostic::{Code, Finding};
use crate::yaml::{Document, Spans, escape};

/// Findings that are kept; more are only counted.
pub(crate) const MOST: usize = 200;

/// The findings of one session file.
pub(crate) struct Check<'a> {
    pub(crate) spans: Spans<'a>,
    /// The document as written, problems and all.
    pub(crate) json: &'a Value,
    pub(crate) findings: Vec<Finding>,
    /// Problems that are only counted.
    pub(crate) more: usize,
    /// Pointers of what an earlier check refused; later ones stay silent about it.
    bad: Vec<String>,
}

impl<'a> Check<'a> {
    pub(crate) fn new(document: &'a Document, json: &'a Value) -> Self {
        Self {
            spans: document.spans(),
            json,
            findings: Vec::new(),
            more: 0,
            bad: Vec::new(),
        }
    }

    /// Marks everything found so far as settled.
    pub(crate) fn settle(&mut self, pointers: impl IntoIterator<Item = String>) {
        self.bad.extend(pointers);
    }

    /// True if no earlier check refused the value, something above it or something in it.
    pub(crate) fn sound(&self, pointer: &str) -> bool {
        !self
            .bad
            .iter()
            .any(|bad| is_within(pointer, bad) || is_within(bad, pointer))
    }

    fn is_settled(&self, pointer: &str) -> bool {
        self.bad.iter().any(|bad| is_within(pointer, bad))
    }

    /// Adds a finding unless an earlier check already refused that part.
    pub(crate) fn add(&mut self, finding: Finding) {
        if self.is_settled(&finding.pointer) {
            return;
        }
        if self.findings.len() < MOST {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// The word that was probably meant; not asked for in a file that is wrong all over.
    pub(crate) fn near<'w>(
        &self,
        word: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Option<&'w str> {
        if self.findings.len() < MOST {
            nearest(word, words)
        } else {
            None
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
    format!("{pointer}/{}", escape(token))
}

/// A pointer as people write it, `services.source.api`; `the file` for the whole document.
pub(crate) fn dotted(pointer: &str) -> String {
    if pointer.is_empty() {
        return "the file".into();
    }
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
fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    if word.len() > 80 {
        return None;
    }
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
