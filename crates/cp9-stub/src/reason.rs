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
        f.write_str(&one_line(&self.text))?;
        if self.at.is_empty() {
            return Ok(());
        }
        let steps: Vec<&str> = self.at.iter().rev().map(String::as_str).collect();
        write!(f, ", at `{}`", one_line(&steps.join(".")))
    }
}

/// The most characters of a text of the contract that a message holds.
const MOST: usize = 300;

/// A text of the contract as part of a message: no control characters, no endless words.
pub(crate) fn one_line(text: &str) -> String {
    let mut told = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == MOST {
            told.push('…');
            break;
        }
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            told.extend(c.escape_debug());
        } else {
            told.push(c);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_whatever_the_contract_says() {
        let reason = Reason::new("`a\nb\u{1b}[2J` is wrong").within("x\r\ny");
        let told = r"`a\nb\u{1b}[2J` is wrong, at `x\r\ny`";
        assert_eq!(reason.to_string(), told);
        let long = Reason::new("a".repeat(10_000)).to_string();
        assert_eq!(long.chars().count(), MOST + 1);
    }
}
