//! How a program ended and what it said.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::redact::Redactor;

use super::error::{Ended, Invocation, ProgramError};

/// Which of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Exit {
    /// True for code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(-1),
        }
    }
}

/// What a program said and how it ended.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub status: Exit,
    /// Its standard output as it is, secrets included; only its last lines, redacted, when it
    /// was streamed.
    pub stdout: String,
    /// The end of its standard error, redacted.
    pub stderr: String,
    /// How long it ran.
    pub millis: u64,
    /// True when it said more than is kept.
    pub truncated: bool,
    pub(super) invocation: Invocation,
    pub(super) redactor: Redactor,
}

impl Output {
    /// The output of a program that was never run, for tests of what reads it.
    pub fn sample(status: Exit, stdout: impl Into<String>, stderr: impl Into<String>) -> Self {
        Self {
            status,
            stdout: stdout.into(),
            stderr: stderr.into(),
            millis: 0,
            truncated: false,
            invocation: Invocation::default(),
            redactor: Redactor::new(),
        }
    }

    /// True when it ended with code 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// The output of a program that succeeded, else its failure.
    pub fn checked(mut self) -> Result<Self, ProgramError> {
        let ended = match self.status {
            Exit::Code(0) => return Ok(self),
            Exit::Code(code) => Ended::Exit(code),
            Exit::Signal(signal) => Ended::Signal(signal),
        };
        if self.stderr.trim().is_empty() {
            self.stderr = self.redactor.redact(&self.stdout);
        }
        Err(ProgramError::new(self.invocation, ended).said(&self.stderr))
    }
}
