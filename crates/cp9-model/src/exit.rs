//! The one table of exit codes.

use serde::Serialize;

use crate::explain::Category;

/// How a command of cp9 ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "u8")]
pub enum ExitCode {
    /// The command did what it was asked.
    Success,
    /// A permanent failure.
    Permanent,
    /// Something survived a destroy, or could not be verified.
    Survivors,
    /// The session file is wrong or a precondition is unmet.
    Config,
    /// A transient failure whose budget is spent.
    Transient,
    /// Another process holds the session.
    Locked,
    /// The verdict is "not converged" or "unhealthy".
    Verdict,
    /// The command line is wrong.
    Usage,
    /// A bug of cp9.
    Bug,
    /// Interrupted by a signal.
    Interrupted,
}

impl ExitCode {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Success,
        Self::Permanent,
        Self::Survivors,
        Self::Config,
        Self::Transient,
        Self::Locked,
        Self::Verdict,
        Self::Usage,
        Self::Bug,
        Self::Interrupted,
    ];

    /// The number given to the operating system.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Permanent => 1,
            Self::Survivors => 2,
            Self::Config => 3,
            Self::Transient => 4,
            Self::Locked => 5,
            Self::Verdict => 6,
            Self::Usage => 64,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }

    /// What the code means, one line for help and docs.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Permanent => "permanent failure",
            Self::Survivors => "something survived a destroy, or could not be verified",
            Self::Config => "session file wrong or precondition unmet",
            Self::Transient => "transient failure, retry budget spent",
            Self::Locked => "session locked by another process",
            Self::Verdict => "not converged or unhealthy",
            Self::Usage => "command line wrong",
            Self::Bug => "a bug of cp9",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> Self {
        code.code()
    }
}

impl From<Category> for ExitCode {
    fn from(category: Category) -> Self {
        match category {
            Category::Config => Self::Config,
            Category::Transient => Self::Transient,
            Category::Permanent | Category::Resource => Self::Permanent,
        }
    }
}
