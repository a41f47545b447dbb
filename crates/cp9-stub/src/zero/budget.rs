//! What the search for zero values may cost, in units of about one small step. It counts instead
//! of looking at a clock, so that the same contract is served or refused on every machine.

use serde_json::Value;

use crate::reason::Reason;

/// For one answer.
const ANSWER: u64 = 200_000;
/// For a whole document.
const DOCUMENT: u64 = 10_000_000;

/// What is left.
#[derive(Debug)]
pub(crate) struct Budget {
    answer: u64,
    document: u64,
}

impl Budget {
    /// A full budget.
    pub(crate) fn new() -> Self {
        Self {
            answer: ANSWER,
            document: DOCUMENT,
        }
    }

    /// Begins another answer.
    pub(crate) fn begin(&mut self) {
        self.answer = ANSWER;
    }

    /// Spends, or says that nothing is left; what is spent stays spent.
    pub(crate) fn charge(&mut self, units: u64) -> Result<(), Reason> {
        if units > self.answer || units > self.document {
            self.answer = 0;
            return Err(Reason::spent());
        }
        self.answer -= units;
        self.document -= units;
        Ok(())
    }
}

/// The size of a value: its nodes, and one more for every 64 bytes of text.
pub(crate) fn weight(value: &Value) -> u64 {
    let inner: u64 = match value {
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| name.len() as u64 / 64 + weight(value))
            .sum(),
        Value::String(text) => text.len() as u64 / 64,
        _ => 0,
    };
    1 + inner
}
