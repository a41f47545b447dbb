//! What every controller can be asked, whichever it is, and how asking can fail.

use std::future::Future;
use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_model::control::{ControllerStatus, Hello, Withheld};
use cp9_model::devplan::API_VERSION;
use cp9_model::{Category, Explain};
use cp9_tools::{FileError, LockError};
use thiserror::Error;

use crate::logs::LogsError;

/// Owns change → build → run → verify of one session.
pub trait Controller {
    /// The state of every resource now.
    fn status(&mut self) -> impl Future<Output = Result<ControllerStatus, ControllerError>>;
    /// Builds or restarts a resource; returns when the work has begun, with the number of the run
    /// that answers: done once `lineage.ended` has come that far.
    fn trigger(&mut self, resource: &str) -> impl Future<Output = Result<u64, ControllerError>>;
    /// Takes over the plan as it is on disk now.
    fn reload(&mut self) -> impl Future<Output = Result<Hello, ControllerError>>;
    /// Ends every child and the controller.
    fn stop(&mut self) -> impl Future<Output = Result<(), ControllerError>>;
}

/// Why a controller cannot serve or be asked.
#[derive(Debug, Error)]
pub enum ControllerError {
    /// Another controller serves this session, or its lock cannot be taken.
    #[error("cannot become the controller of `{folder}`")]
    Lock {
        /// The session folder.
        folder: Utf8PathBuf,
        /// Who holds it.
        source: LockError,
    },
    /// The plan cannot be read.
    #[error("cannot read the dev plan")]
    PlanFile {
        /// Why.
        source: FileError,
    },
    /// The plan is not in the format.
    #[error("dev plan `{path}` is not in the format `{API_VERSION}`")]
    PlanFormat {
        /// The plan.
        path: Utf8PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The plan is not one that this controller can execute.
    #[error("dev plan `{path}`: {reason}")]
    Plan {
        /// The plan.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of the session cannot be written.
    #[error("cannot prepare the session folder")]
    File {
        /// Which and why.
        #[from]
        source: FileError,
    },
    /// Logs cannot be indexed.
    #[error("cannot index the session's logs")]
    Logs {
        /// Why.
        #[from]
        source: LogsError,
    },
    /// The socket cannot be made.
    #[error("cannot listen on `{socket}`")]
    Listen {
        /// The socket.
        socket: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The system refused a thread or a signal handler.
    #[error("cannot set up {what}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// Nobody answers the socket.
    #[error("cannot reach the controller at `{socket}`")]
    Connect {
        /// The socket.
        socket: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The controller did not answer in time.
    #[error("the controller at `{socket}` did not answer within {} s", .limit.as_secs())]
    Timeout {
        /// The socket.
        socket: Utf8PathBuf,
        /// The time it had.
        limit: Duration,
    },
    /// The controller was halted by a signal, and answers nothing.
    #[error("the controller (pid {pid}) is halted")]
    Halted {
        /// Its pid.
        pid: u32,
    },
    /// The answer makes no sense.
    #[error("the controller at `{socket}` answered `{answer}`")]
    Protocol {
        /// The socket.
        socket: Utf8PathBuf,
        /// The answer's beginning.
        answer: String,
    },
    /// The controller serves something else.
    #[error("the controller at `{socket}` serves {found}, expected {expected}")]
    Foreign {
        /// The socket.
        socket: Utf8PathBuf,
        /// What it serves.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The controller has no credentials to give.
    #[error("the session's controller gives no credentials: {}", .0.message)]
    Withheld(Withheld),
    /// The controller refused.
    #[error("the controller refused: {message}")]
    Refused {
        /// Why.
        message: String,
    },
}

impl Explain for ControllerError {
    fn category(&self) -> Category {
        match self {
            Self::Lock { source, .. } => source.category(),
            Self::PlanFile { source } | Self::File { source } => source.category(),
            Self::Logs { source } => source.category(),
            Self::Withheld(why) if why.transient => Category::Transient,
            Self::PlanFormat { .. }
            | Self::Plan { .. }
            | Self::Withheld(_)
            | Self::Refused { .. } => Category::Config,
            Self::Connect { .. }
            | Self::Timeout { .. }
            | Self::Halted { .. }
            | Self::System { .. } => Category::Transient,
            Self::Listen { .. } | Self::Protocol { .. } | Self::Foreign { .. } => {
                Category::Permanent
            }
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Lock { source, .. } => source.code(),
            Self::PlanFile { .. } | Self::PlanFormat { .. } | Self::Plan { .. } => "plan-invalid",
            Self::File { source } => source.code(),
            Self::Logs { source } => source.code(),
            Self::Listen { .. } => "controller-socket",
            Self::System { .. } => "controller-system",
            Self::Connect { .. } => "controller-unreachable",
            Self::Timeout { .. } => "controller-timeout",
            Self::Halted { .. } => "controller-halted",
            Self::Protocol { .. } | Self::Foreign { .. } => "controller-foreign",
            Self::Withheld(_) => "credentials-withheld",
            Self::Refused { .. } => "controller-refused",
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Lock { source, .. } => source.remedy(),
            Self::PlanFile { .. } | Self::PlanFormat { .. } | Self::Plan { .. } => {
                Some("cp9 up".into())
            }
            Self::File { source } => source.remedy(),
            Self::Logs { source } => source.remedy(),
            Self::Listen { socket, .. } => Some(format!(
                "check that `{socket}` lies in a folder you may write to"
            )),
            Self::Connect { .. }
            | Self::Timeout { .. }
            | Self::Protocol { .. }
            | Self::Foreign { .. } => Some("cp9 pause, then cp9 up".into()),
            Self::Halted { pid } => Some(format!("kill -CONT {pid}")),
            Self::Withheld(why) => why.remedy.clone(),
            Self::System { .. } | Self::Refused { .. } => None,
        }
    }
}
