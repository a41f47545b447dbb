//! What every error of cp9 says about itself: its category, a stable code and a remedy.

use serde::{Deserialize, Serialize};

use crate::exit::ExitCode;

/// The kind of a failure, which decides retry and exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// The session file or a precondition is wrong; trying again changes nothing.
    Config,
    /// It may work when tried again.
    Transient,
    /// It will not work when tried again.
    Permanent,
    /// Something outside protects or holds a resource.
    Resource,
}

/// An error that knows its category, its stable code and how to get past it.
pub trait Explain: std::error::Error {
    /// The kind of the failure.
    fn category(&self) -> Category;
    /// A stable machine-readable word, such as `session-locked`.
    fn code(&self) -> &'static str;
    /// How a command ends that fails with it, by default as its category says.
    fn exit(&self) -> ExitCode {
        self.category().into()
    }
    /// What to type or change, printed as `hint:`.
    fn remedy(&self) -> Option<String> {
        None
    }
}
