//! A failed program, the same whatever the program.

use std::fmt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain};

use crate::redact::Redactor;

use super::cmd::Cmd;

/// Lines of the program's words that an error repeats.
const MOST_LINES: usize = 12;
const LONGEST_LINE: usize = 400;

/// Which program was asked to do what; safe to show.
#[derive(Debug, Clone, Default)]
pub(super) struct Invocation {
    pub(super) argv: Vec<String>,
    pub(super) cwd: Option<Utf8PathBuf>,
}

impl Invocation {
    pub(super) fn of(cmd: &Cmd, redactor: &Redactor) -> Self {
        Self {
            argv: cmd.argv().iter().map(|arg| redactor.redact(arg)).collect(),
            cwd: cmd.cwd.clone(),
        }
    }
}

/// How a program failed.
#[derive(Debug)]
pub enum Ended {
    /// It ended by itself with this code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It took longer than this and was ended.
    TimedOut(Duration),
    /// Cp9 was interrupted and ended it.
    Interrupted,
    /// There is no such program.
    NotFound,
    /// It is there but cannot be executed.
    NotExecutable,
    /// Its working directory is missing.
    CwdMissing,
    /// The file for its output cannot be opened.
    Log(Utf8PathBuf, std::io::Error),
    /// The system refused to start it or to tell how it ended.
    System(std::io::Error),
}

/// A program that failed or could not be run.
#[derive(Debug)]
pub struct ProgramError {
    /// The program as it was asked for.
    pub program: String,
    /// How it failed.
    pub ended: Ended,
    details: Box<Details>,
}

#[derive(Debug)]
struct Details {
    invocation: Invocation,
    said: Vec<String>,
}

impl ProgramError {
    pub(super) fn new(invocation: Invocation, ended: Ended) -> Self {
        let details = Details {
            said: Vec::new(),
            invocation,
        };
        Self {
            program: details.invocation.argv.first().cloned().unwrap_or_default(),
            ended,
            details: Box::new(details),
        }
    }

    /// Keeps the last lines of what the program said, which must be redacted already.
    pub(super) fn said(mut self, text: &str) -> Self {
        let mut lines: Vec<String> = text
            .lines()
            .rev()
            .map(crate::lines::strip_control)
            .filter(|line| !line.trim().is_empty())
            .take(MOST_LINES)
            .map(|line| line.chars().take(LONGEST_LINE).collect())
            .collect();
        lines.reverse();
        self.details.said = lines;
        self
    }

    /// Program and arguments, without secrets.
    pub fn argv(&self) -> &[String] {
        &self.details.invocation.argv
    }

    /// The directory it ran in, if one was asked for.
    pub fn cwd(&self) -> Option<&Utf8Path> {
        self.details.invocation.cwd.as_deref()
    }

    /// The last lines of what it said, without secrets.
    pub fn last_lines(&self) -> &[String] {
        &self.details.said
    }

    /// True when cp9 itself was interrupted.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.ended, Ended::Interrupted)
    }

    /// The short word for the record.
    pub(super) fn outcome(&self) -> String {
        match &self.ended {
            Ended::Exit(code) => format!("exit {code}"),
            Ended::Signal(signal) => format!("signal {signal}"),
            Ended::Interrupted => "interrupted".to_owned(),
            _ => self.code().trim_start_matches("program-").to_owned(),
        }
    }

    fn command_line(&self) -> String {
        let quoted: Vec<_> = self.argv().iter().map(|arg| quote(arg)).collect();
        let line = quoted.join(" ");
        match line.char_indices().nth(LONGEST_LINE) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

/// An argument as a shell would need it.
fn quote(arg: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+*".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        return arg.to_owned();
    }
    format!(
        "'{}'",
        crate::lines::strip_control(arg)
            .replace('\n', " ")
            .replace('\'', r"'\''")
    )
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.command_line();
        match &self.ended {
            Ended::Exit(code) => write!(f, "`{line}` failed with exit code {code}"),
            Ended::Signal(signal) => {
                write!(f, "`{line}` was ended by signal {}", signal_name(*signal))
            }
            Ended::TimedOut(limit) => {
                let seconds = limit.as_secs_f64();
                write!(f, "`{line}` took longer than {seconds} s and was ended")
            }
            Ended::Interrupted => write!(f, "`{line}` was interrupted"),
            Ended::NotFound => write!(f, "program `{}` not found", self.program),
            Ended::NotExecutable => write!(f, "program `{}` cannot be executed", self.program),
            Ended::CwdMissing => write!(f, "cannot run `{line}`: its directory is missing"),
            Ended::Log(path, _) => {
                write!(f, "cannot run `{line}`: its log `{path}` cannot be opened")
            }
            Ended::System(_) => write!(f, "cannot run `{line}`"),
        }?;
        if let Some(cwd) = self.cwd() {
            write!(f, " in `{cwd}`")?;
        }
        self.last_lines()
            .iter()
            .try_for_each(|said| write!(f, "\n  {said}"))
    }
}

fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or_else(|_| signal.to_string(), |known| known.as_str().to_owned())
}

impl std::error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.ended {
            Ended::Log(_, source) | Ended::System(source) => Some(source),
            _ => None,
        }
    }
}

impl Explain for ProgramError {
    fn category(&self) -> Category {
        match self.ended {
            Ended::NotFound | Ended::NotExecutable | Ended::CwdMissing => Category::Config,
            Ended::TimedOut(_) | Ended::Interrupted => Category::Transient,
            Ended::Exit(_) | Ended::Signal(_) | Ended::Log(..) | Ended::System(_) => {
                Category::Permanent
            }
        }
    }

    fn code(&self) -> &'static str {
        match self.ended {
            Ended::Exit(_) | Ended::Signal(_) => "program-failed",
            Ended::TimedOut(_) => "program-timeout",
            Ended::Interrupted => "interrupted",
            Ended::NotFound => "program-not-found",
            Ended::NotExecutable => "program-not-executable",
            Ended::CwdMissing => "program-cwd-missing",
            Ended::Log(..) => "program-log",
            Ended::System(_) => "program-not-started",
        }
    }

    fn remedy(&self) -> Option<String> {
        let program = &self.program;
        match &self.ended {
            Ended::NotFound if program.contains('/') => Some(format!("build or install {program}")),
            Ended::NotFound => Some(format!("install {program} or put it on PATH")),
            Ended::NotExecutable => Some(format!(
                "make {program} executable (chmod +x), and check its `#!` line and platform"
            )),
            Ended::CwdMissing => self.cwd().map(|cwd| format!("create the directory {cwd}")),
            _ => None,
        }
    }
}
