//! Why a substrate cannot be made or destroyed.

use camino::Utf8PathBuf;
use cp9_model::diagnostic::Severity;
use cp9_model::substrate::{Offence, Unreadable};
use cp9_model::{Category, Diagnostic, Explain};
use cp9_tools::terraform::{Lock, Problem};
use thiserror::Error;

use crate::error::EngineError;

/// What went wrong.
#[derive(Debug, Error)]
pub(crate) enum SubstrateError {
    /// Terraform failed.
    #[error("`{program} {command}` failed{}", told(.problems))]
    Failed {
        program: String,
        command: &'static str,
        problems: Vec<String>,
        log: Utf8PathBuf,
        category: Category,
    },
    /// It took too long or was interrupted.
    #[error("`{program} {command}` {why}")]
    Stopped {
        program: String,
        command: &'static str,
        why: String,
    },
    /// Somebody holds the state.
    #[error("the state of this substrate is held by {}", holder(.lock, *.pid))]
    Held { lock: Lock, pid: Option<u32> },
    /// The plan does what it must not.
    #[error("the plan does {count} {} that a substrate must not", things(*.count))]
    Refused { count: usize },
    /// What was made lacks the tags.
    #[error("{count} {} of the substrate were made without the session's tags", things(*.count))]
    Untagged { count: usize },
    /// Something of the planned name exists and is not the session's.
    #[error("`{name}` exists already and is not tagged as this session's (`{address}`)")]
    Taken { name: String, address: String },
    /// The state holds what belongs to another session.
    #[error("`{address}` in the state of this substrate belongs to session `{session}`")]
    Foreign { address: String, session: String },
    /// A plan or a state that cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        path: Utf8PathBuf,
        #[source]
        source: Unreadable,
    },
    /// There is no plan that was checked.
    #[error("there is no checked plan to apply")]
    NoPlan,
    /// Something is left that Terraform should have destroyed.
    #[error("{count} {} of the substrate were not destroyed", things(*.count))]
    Left { count: usize },
}

fn told(problems: &[String]) -> String {
    let lines = problems.iter().map(|one| format!("  {one}"));
    std::iter::once(String::new())
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

fn things(count: usize) -> &'static str {
    if count == 1 { "thing" } else { "things" }
}

fn holder(lock: &Lock, pid: Option<u32>) -> String {
    let who = if lock.who.is_empty() {
        "another process"
    } else {
        &lock.who
    };
    let pid = pid.map(|pid| format!(", process {pid}"));
    let since = (!lock.created.is_empty()).then(|| format!(", since {}", lock.created));
    format!(
        "{who}{}{}",
        pid.unwrap_or_default(),
        since.unwrap_or_default()
    )
}

impl Explain for SubstrateError {
    fn category(&self) -> Category {
        match self {
            Self::Failed { category, .. } => *category,
            Self::Stopped { .. } | Self::Held { .. } => Category::Transient,
            Self::Refused { .. } | Self::Taken { .. } | Self::Foreign { .. } => Category::Config,
            Self::Unreadable { .. } | Self::NoPlan => Category::Permanent,
            Self::Untagged { .. } | Self::Left { .. } => Category::Resource,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "terraform-failed",
            Self::Stopped { .. } => "terraform-stopped",
            Self::Held { .. } => "terraform-locked",
            Self::Refused { .. } => "plan-refused",
            Self::Untagged { .. } => "substrate-untagged",
            Self::Taken { .. } => "name-taken",
            Self::Foreign { .. } => "substrate-foreign",
            Self::Unreadable { source, .. } => source.code(),
            Self::NoPlan => "plan-missing",
            Self::Left { .. } => "substrate-left",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Failed {
                category: Category::Config,
                log,
                ..
            } => format!(
                "mend what is said above, and the identity if it was denied; all of it is in `{log}`"
            ),
            Self::Failed { log, .. } => format!("see `{log}`"),
            Self::Stopped { .. } => {
                "run the command again; it goes on where this one stopped".into()
            }
            Self::Held { pid: Some(pid), .. } => {
                format!("wait for process {pid}, or `kill -INT {pid}`")
            }
            Self::Held { lock, .. } => format!(
                "the lock ends with its process; if none is left, `terraform force-unlock {}` in the working copy",
                lock.id
            ),
            Self::Refused { .. } => {
                "mend the places above in the Terraform root; nothing was made".into()
            }
            Self::Untagged { .. } => {
                "mend the places above and run `cp9 up` again, which tags them".into()
            }
            Self::Taken { name, .. } => {
                format!("choose another session `name`, or remove `{name}` if nobody needs it")
            }
            Self::Foreign { address, .. } => {
                format!("take it out with `terraform state rm '{address}'`, after asking its owner")
            }
            Self::Unreadable { path, source } => match source {
                Unreadable::Malformed { .. } => format!("restore `{path}` from `{path}.backup`"),
                Unreadable::Format { .. } => return source.remedy(),
            },
            Self::NoPlan => "run `cp9 up` again, which plans anew".into(),
            Self::Left { .. } => {
                "run `cp9 destroy` again; what is left is listed as survivors".into()
            }
        })
    }
}

/// An error with a place for each offence.
pub(super) fn with_offences(error: SubstrateError, offences: &[Offence]) -> EngineError {
    let mut error = EngineError::from(error);
    error.diagnostics = offences.iter().map(diagnostic).collect();
    error
}

fn diagnostic(offence: &Offence) -> Diagnostic {
    Diagnostic {
        code: format!("substrate-{}", offence.rule.word()),
        severity: Severity::Error,
        message: offence.message.clone(),
        file: offence.address.clone(),
        line: 0,
        column: 0,
        pointer: String::new(),
        help: Some(offence.remedy.clone()),
        snippet: format!(" --> {}", offence.address),
    }
}

/// Words of a cloud that is busy or not reached, as its SDK and Go's network errors write them.
const PASSING: &[&str] = &[
    "throttl",
    "rate exceeded",
    "requestlimitexceeded",
    "slowdown",
    "timeout",
    "connection refused",
    "connection reset",
    "no such host",
    "service unavailable",
    "internalfailure",
    "internalerror",
];
/// Words of an identity that is refused.
const DENIED: &[&str] = &[
    "accessdenied",
    "unauthorizedoperation",
    "is not authorized",
    "expiredtoken",
    "invalidclienttokenid",
    "no valid credential",
];

/// The category of what Terraform says.
pub(super) fn category(problems: &[Problem]) -> Category {
    let text: String = problems
        .iter()
        .map(|one| format!("{} {}\n", one.summary, one.detail).to_lowercase())
        .collect();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(DENIED) {
        Category::Config
    } else if has(PASSING) {
        Category::Transient
    } else {
        Category::Permanent
    }
}
