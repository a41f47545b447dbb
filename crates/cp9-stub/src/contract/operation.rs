//! One operation: who it is and what it answers.

use super::response::Response;

/// An operation with its ready answer.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) name: Name,
    pub(crate) response: Response,
}

/// What an operation is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) id: Option<String>,
    /// In capitals.
    pub(crate) method: String,
    pub(crate) path: String,
}
