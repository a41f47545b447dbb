//! What a use case answers: a report, an error, or both.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::diagnostic::{Diagnostic, Severity};
use cp9_model::lifecycle::LastError;
use cp9_model::output::Target;
use cp9_model::{Category, ExitCode, Explain};
use cp9_tools::Redactor;
use thiserror::Error;

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

impl<T> Outcome<T> {
    /// An outcome that is only an error.
    pub(crate) fn failed(error: EngineError, target: Target) -> Self {
        Self {
            report: None,
            error: Some(error),
            target,
        }
    }
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

    /// The error as the journal keeps it, without secrets.
    pub(crate) fn last(&self, redactor: &Redactor) -> LastError {
        LastError {
            category: self.category().to_owned(),
            code: self.source.code().to_owned(),
            message: redactor.redact(&self.told()),
        }
    }

    /// The message with its causes.
    pub(crate) fn told(&self) -> String {
        let mut message = self.source.to_string();
        let mut cause = std::error::Error::source(&*self.source);
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        message
    }
}

impl<E: Explain + Send + Sync + 'static> From<E> for EngineError {
    fn from(error: E) -> Self {
        let exit = error.exit();
        Self {
            source: Box::new(error),
            exit,
            diagnostics: Vec::new(),
        }
    }
}

/// The session file, or a file it points at, is wrong.
#[derive(Debug, Error)]
#[error("{problems} in `{file}`", problems = count(*.errors))]
pub(crate) struct Invalid {
    /// The session file, or the folder it points at.
    file: Utf8PathBuf,
    /// How many problems stop the command.
    errors: usize,
}

fn count(errors: usize) -> String {
    if errors == 1 {
        "1 problem".into()
    } else {
        format!("{errors} problems")
    }
}

impl Explain for Invalid {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "config-invalid"
    }
    fn remedy(&self) -> Option<String> {
        Some("mend the places above; `cp9 schema` prints what is allowed".into())
    }
}

/// An error made of diagnostics.
pub(crate) fn invalid(file: &Utf8Path, diagnostics: Vec<Diagnostic>) -> EngineError {
    let errors = diagnostics
        .iter()
        .filter(|problem| problem.severity == Severity::Error)
        .count();
    let mut error = EngineError::from(Invalid {
        file: file.to_owned(),
        errors,
    });
    error.diagnostics = diagnostics;
    error
}

/// The command was stopped by a signal.
#[derive(Debug, Error)]
#[error("interrupted{}", .at.as_ref().map(|at| format!(" in state `{at}`")).unwrap_or_default())]
pub(crate) struct Interrupted {
    /// The state it was in.
    pub(crate) at: Option<String>,
    /// What goes on with it.
    pub(crate) command: &'static str,
}

impl Explain for Interrupted {
    fn category(&self) -> Category {
        Category::Transient
    }
    fn code(&self) -> &'static str {
        "interrupted"
    }
    fn exit(&self) -> ExitCode {
        ExitCode::Interrupted
    }
    fn remedy(&self) -> Option<String> {
        Some(format!("go on with `cp9 {}`", self.command))
    }
}

impl Interrupted {
    /// The error with the exit code of an interrupt.
    pub(crate) fn error(at: Option<String>, command: &'static str) -> EngineError {
        Self { at, command }.into()
    }
}
