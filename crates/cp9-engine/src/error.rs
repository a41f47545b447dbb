//! What a use case answers: a report, an error, or both.

use cp9_model::diagnostic::Diagnostic;
use cp9_model::output::Target;
use cp9_model::{Category, ExitCode, Explain};

/// A report, an error, or both, and who and where it was about.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What there is to tell.
    pub report: Option<T>,
    /// What went wrong.
    pub error: Option<EngineError>,
    /// Who and where.
    pub target: Target,
}

/// A failed use case: an explained error with its exit code.
#[derive(Debug)]
pub struct EngineError {
    /// The error and its causes.
    pub source: Box<dyn Explain + Send + Sync>,
    /// How the command ends.
    pub exit: ExitCode,
    /// Problems of files that a person wrote.
    pub diagnostics: Vec<Diagnostic>,
}

impl EngineError {
    /// The category's word, or `interrupted`, `usage`, `bug`.
    pub fn category(&self) -> &'static str {
        match self.exit {
            ExitCode::Interrupted => "interrupted",
            ExitCode::Usage => "usage",
            ExitCode::Bug => "bug",
            _ => self.source.category().word(),
        }
    }
}

impl<E: Explain + Send + Sync + 'static> From<E> for EngineError {
    fn from(error: E) -> Self {
        let exit = ExitCode::from(error.category());
        Self { source: Box::new(error), exit, diagnostics: Vec::new() }
    }
}

/// The category of an error that only some arms of a use case know.
pub fn permanent() -> Category {
    Category::Permanent
}
