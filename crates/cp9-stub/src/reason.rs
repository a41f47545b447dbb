//! Why something of a contract cannot be answered, with the place in the value where it shows.

use std::fmt;

/// A reason, told as a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    text: String,
    /// Steps from the inside out.
    at: Vec<String>,
    /// Set for what lies in another document.
    foreign: bool,
    /// Set once the search was given up, so that no further branch is tried.
    pub(crate) spent: bool,
}

impl Reason {
    /// A reason at the root.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            at: Vec::new(),
            foreign: false,
            spent: false,
        }
    }

    /// A reference leads to another document.
    pub(crate) fn foreign(reference: &str) -> Self {
        let text = format!(
            "reference `{reference}` leads to another document, and only local references are served"
        );
        Self {
            foreign: true,
            ..Self::new(text)
        }
    }

    /// True if only another document could tell.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// The search costs too much.
    pub(crate) fn spent() -> Self {
        Self {
            spent: true,
            ..Self::new("its schema has too many combinations to search")
        }
    }

    /// The same reason, one step deeper in the value.
    pub(crate) fn within(mut self, step: &str) -> Self {
        self.at.push(step.to_owned());
        self
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.at.is_empty() {
            return Ok(());
        }
        let steps: Vec<&str> = self.at.iter().rev().map(String::as_str).collect();
        write!(f, ", at `{}`", steps.join("."))
    }
}
