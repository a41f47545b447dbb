//! Why a stub cannot be served.

use std::error::Error as StdError;

use camino::Utf8PathBuf;
use thiserror::Error;

use crate::config::Kind;
use crate::contract::Refusal;

/// Why a stub cannot be served; each is something to change before it is started again.
#[derive(Debug, Error)]
pub enum StubError {
    /// The definition cannot be read.
    #[error("cannot read definition `{path}`")]
    Read {
        /// The definition.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The definition is larger than any contract should be.
    #[error("definition `{path}` is larger than {limit} bytes")]
    TooLarge {
        /// The definition.
        path: Utf8PathBuf,
        /// The most bytes.
        limit: u64,
    },
    /// The definition is neither JSON nor YAML.
    #[error("cannot parse definition `{path}` as {format}")]
    Syntax {
        /// The definition.
        path: Utf8PathBuf,
        /// `JSON` or `YAML`.
        format: &'static str,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The definition is of another version, or no OpenAPI document.
    #[error("definition `{path}` is {found}, and only OpenAPI 3.0 is served")]
    Version {
        /// The definition.
        path: Utf8PathBuf,
        /// What it is.
        found: String,
    },
    /// The definition breaks rules of OpenAPI that no answer shows.
    #[error("definition `{path}` is no valid OpenAPI 3.0 document in {} places", faults.len())]
    Invalid {
        /// The definition.
        path: Utf8PathBuf,
        /// Each place and what is wrong there.
        faults: Vec<String>,
    },
    /// Operations have no answer.
    #[error("definition `{path}` has {} of {total} operations without a valid answer", refusals.len())]
    Refused {
        /// The definition.
        path: Utf8PathBuf,
        /// All operations.
        total: usize,
        /// Those without an answer.
        refusals: Vec<Refusal>,
    },
    /// An option that the kind needs is missing.
    #[error("a stub of kind `{}` needs `{option}`", kind.word())]
    Missing {
        /// The kind.
        kind: Kind,
        /// The option.
        option: &'static str,
    },
    /// An option that means nothing for the kind.
    #[error("a stub of kind `{}` takes no `{option}`", kind.word())]
    Surplus {
        /// The kind.
        kind: Kind,
        /// The option.
        option: &'static str,
    },
    /// The name of the trace header is none.
    #[error("`{name}` is no name of an HTTP header")]
    TraceHeader {
        /// The name.
        name: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The recording is a file of somebody else.
    #[error("`{path}` has content that no recorder wrote")]
    Foreign {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The recording cannot be written.
    #[error("cannot write recording `{path}`")]
    Output {
        /// The recording.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl StubError {
    /// A stable machine-readable word.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "stub-definition-unreadable",
            Self::TooLarge { .. } => "stub-definition-too-large",
            Self::Syntax { .. } => "stub-definition-syntax",
            Self::Version { .. } => "stub-definition-version",
            Self::Invalid { .. } => "stub-definition-invalid",
            Self::Refused { .. } => "stub-operations-refused",
            Self::Missing { .. } => "stub-option-missing",
            Self::Surplus { .. } => "stub-option-surplus",
            Self::TraceHeader { .. } => "stub-trace-header",
            Self::Listen { .. } => "stub-listen",
            Self::Foreign { .. } => "stub-output-foreign",
            Self::Output { .. } => "stub-output",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Read { .. } => "name a file that exists and is readable".into(),
            Self::TooLarge { .. } => "split the contract by service".into(),
            Self::Syntax { .. } => "correct the file at that place".into(),
            Self::Version { .. } => {
                "convert it to OpenAPI 3.0, or use kind `permissive` until then".into()
            }
            Self::Invalid { .. } => "correct the document at these places".into(),
            Self::Refused { .. } => {
                "give these operations a success response whose schema can be met, or use kind `permissive`"
                    .into()
            }
            Self::Missing { option, .. } => format!("add `{option}`"),
            Self::Surplus { option, .. } => format!("remove `{option}`"),
            Self::TraceHeader { .. } => "use letters, digits and `-`, such as `X-Trace-Id`".into(),
            Self::Listen { .. } => {
                "use a free port of this machine, such as `127.0.0.1:0` for any".into()
            }
            Self::Foreign { .. } => "name another file, or move that one away".into(),
            Self::Output { .. } => "name a file in a directory that may be written".into(),
        }
    }

    /// Every single reason, where there are several: operations that were refused, rules that are
    /// broken.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Refused { refusals, .. } => refusals.iter().map(ToString::to_string).collect(),
            Self::Invalid { faults, .. } => faults.clone(),
            _ => Vec::new(),
        }
    }
}
