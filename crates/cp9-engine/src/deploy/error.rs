//! Why a deploy did not begin, or ended in a verdict.

use std::time::Duration;

use cp9_loop::convergence::Failure;
use cp9_model::generation::Pair;
use cp9_model::lifecycle::StateName;
use cp9_model::{Category, ExitCode, Explain};
use thiserror::Error;

/// Why a deploy did not begin, or ended in a verdict.
#[derive(Debug, Error)]
pub(crate) enum DeployError {
    /// The session is not far enough.
    #[error("session `{session}` is not ready: state `{state}` is {status}")]
    NotReady {
        session: String,
        state: StateName,
        status: &'static str,
    },
    /// The session is paused.
    #[error("session `{session}` is paused, so its state `session_ready` does not hold")]
    Paused { session: String },
    /// There is no such service.
    #[error("session `{session}` has no service `{service}`, only {known}")]
    NoService {
        session: String,
        service: String,
        known: String,
    },
    /// A person starts the controller, and has not.
    #[error("the controller of session `{session}` does not run, and `tilt.mode` leaves it to you")]
    HandedOver { session: String, command: String },
    /// The build failed.
    #[error("the build of `{service}` failed")]
    Build { service: String, source: Said },
    /// The build ended well and left the old binary.
    #[error("the build of `{service}` did not replace its binary ({pair})", pair = Pair::SourceBinary.word())]
    Unreplaced { service: String, source: Said },
    /// The new version does not stay up.
    #[error("`{service}` does not run its new version ({pair})", pair = .pair.word())]
    Restart {
        service: String,
        pair: Pair,
        source: Said,
    },
    /// The new version runs and is not ready.
    #[error("`{service}` runs its new version and is not ready")]
    Unready { service: String, source: Said },
    /// It waits for something that has failed.
    #[error("`{service}` cannot start")]
    Blocked { service: String, source: Said },
    /// The plan does not run it.
    #[error("the dev plan of session `{session}` does not run `{service}`")]
    NotPlanned { session: String, service: String },
    /// Everything is green, and the generations are not one.
    #[error("`{service}` is green on another generation ({pair})", pair = .pair.word())]
    Differs { service: String, pair: Pair },
    /// It took too long.
    #[error("`{service}` was not deployed within {} s: {what}", .limit.as_secs_f32())]
    Late {
        service: String,
        limit: Duration,
        what: String,
    },
}

/// What a build or a process said, as a cause.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Said(String);

impl DeployError {
    /// The verdict that a failure is.
    pub(super) fn of(failure: Failure, session: &str, service: &str, built: bool) -> Self {
        let service = service.to_owned();
        let pair = if built {
            Pair::BinaryRunning
        } else {
            Pair::SourceRunning
        };
        match failure {
            Failure::Build(said) => Self::Build {
                service,
                source: Said(said),
            },
            Failure::Unreplaced(said) => Self::Unreplaced {
                service,
                source: Said(said),
            },
            Failure::Restart(said) => Self::Restart {
                service,
                pair,
                source: Said(said),
            },
            Failure::NotReady(said) => Self::Unready {
                service,
                source: Said(said),
            },
            Failure::Blocked(said) => Self::Blocked {
                service,
                source: Said(said),
            },
            Failure::NotPlanned => Self::NotPlanned {
                session: session.to_owned(),
                service,
            },
        }
    }
}

fn by_pair(pair: Pair) -> &'static str {
    match pair {
        Pair::SourceBinary => "source-not-binary",
        Pair::BinaryRunning => "binary-not-running",
        Pair::SourceRunning => "source-not-running",
    }
}

impl Explain for DeployError {
    fn category(&self) -> Category {
        match self {
            Self::NotReady { .. }
            | Self::Paused { .. }
            | Self::NoService { .. }
            | Self::HandedOver { .. } => Category::Config,
            Self::Late { .. } => Category::Transient,
            _ => Category::Permanent,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotReady { .. } | Self::Paused { .. } => "session-not-ready",
            Self::NoService { .. } => "service-unknown",
            Self::HandedOver { .. } => "controller-not-running",
            Self::Build { .. } => "build-failed",
            Self::Unreplaced { .. } => by_pair(Pair::SourceBinary),
            Self::Restart { pair, .. } | Self::Differs { pair, .. } => by_pair(*pair),
            Self::Unready { .. } => "service-not-ready",
            Self::Blocked { .. } => "service-blocked",
            Self::NotPlanned { .. } => "service-not-planned",
            Self::Late { .. } => "deploy-late",
        }
    }

    fn exit(&self) -> ExitCode {
        match self.category() {
            Category::Config => ExitCode::Config,
            _ => ExitCode::Verdict,
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::NotReady { .. } => {
                "run `cp9 up` to its end first; `cp9 status` shows where it is".into()
            }
            Self::Paused { .. } => "resume it: `cp9 up`".into(),
            Self::NoService { .. } => "name one of these".into(),
            Self::HandedOver { command, .. } => format!("start it: `{command}`"),
            Self::Build { service, .. } => {
                format!("mend it and save; all of its output: `cp9 logs {service}`")
            }
            Self::Unreplaced { .. } => {
                "let `build.command` write its product anew to `${output}`".into()
            }
            Self::Restart { service, .. }
            | Self::Unready { service, .. }
            | Self::Blocked { service, .. } => {
                format!("see why: `cp9 status` and `cp9 logs {service}`")
            }
            Self::NotPlanned { .. } => "cp9 up".into(),
            Self::Differs { pair, service } => differs(*pair, service),
            Self::Late { .. } => "`cp9 status` shows how far it is; more time: `--timeout`".into(),
        })
    }
}

fn differs(pair: Pair, service: &str) -> String {
    match pair {
        Pair::SourceBinary => {
            "the files or the binary changed while it was deployed; if a build writes into its own sources, name that in `build.ignore`".into()
        }
        Pair::BinaryRunning => {
            format!("something else writes the binary of `{service}`, or its process was exchanged: start it anew with `cp9 pause` and `cp9 up`; or `run.command` starts something else than `${{binary}}`")
        }
        Pair::SourceRunning => "take the changed files over: `cp9 up`".into(),
    }
}
