//! One problem of a file that a person wrote, with its place and its remedy.

pub mod code;
pub mod finding;
mod snippet;
pub mod source;

#[cfg(test)]
mod tests;

pub use code::Code;
pub(crate) use finding::report_all;
pub use finding::{Finding, MOST_SHOWN, report};
pub use source::Source;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The command cannot go on.
    Error,
    /// Worth knowing.
    Warning,
}

/// A problem with file, line, column, the place inside the document and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// A stable code, `CP9-Cnnn`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The JSON pointer of the value, empty for the whole document.
    pub pointer: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The lines around the place with a caret, ready to print without colour.
    pub snippet: String,
}
