//! What every cloud can do, and the proof without which nothing is written or deleted.

use cp9_model::{Category, Explain, Scope};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::aws::AwsProof;

/// A scope that a cloud has proven for this process. Only `Cloud::prove` makes one; `aws::prove` widens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvenScope {
    scope: Scope,
    aws: Option<AwsProof>,
}

impl ProvenScope {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, aws: None }
    }

    pub(crate) fn on_aws(self, proof: AwsProof) -> Self {
        let aws = Some(proof);
        Self { aws, ..self }
    }

    /// Account, region and principal, where the scope reaches AWS.
    pub fn aws(&self) -> Option<&AwsProof> {
        self.aws.as_ref()
    }

    /// Owner, session and folder id.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

/// Everything that cp9 learned to exist for a session, found by tag or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// What there is.
    pub entries: Vec<LedgerEntry>,
}

/// One known thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum LedgerEntry {
    /// A process of this machine.
    Process {
        /// Its id.
        pid: u32,
        /// When it started, which tells it from a later process of the same id.
        start_time: u64,
        /// What it was started as.
        what: String,
    },
    /// A loopback port that a process of the session held.
    Port {
        /// Its number.
        port: u16,
    },
    /// A resource of the substrate.
    Resource {
        /// The account that it is in.
        account: String,
        /// The region that the substrate is in.
        region: String,
        /// Which one, and how far it has come.
        #[serde(flatten)]
        resource: cp9_model::substrate::Resource,
    },
}

/// Something that exists for a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// `process`, or a type of the cloud.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// Why it counts as the scope's: `environment`, `ledger`, `executable`, `working directory`.
    pub because: String,
    /// For a process: when it started.
    pub start_time: u64,
}

/// Why a cloud could not prove, look or delete.
#[derive(Debug, Error)]
pub enum CloudError {
    /// The scope did not come back from a process that carried it.
    #[error("the scope of session `{session}` cannot be read back from a process of its own")]
    Unreadable {
        /// The session.
        session: String,
    },
    /// The process that was to carry the scope did not start.
    #[error("cannot start a process to prove the scope of session `{session}`")]
    Probe {
        /// The session.
        session: String,
        /// Why.
        #[source]
        source: cp9_tools::program::ProgramError,
    },
    /// The wish would end a process that this command descends from.
    #[error("this command runs inside session `{session}` and cannot end it")]
    Inside {
        /// The session.
        session: String,
    },
}

impl Explain for CloudError {
    fn category(&self) -> Category {
        match self {
            Self::Unreadable { .. } => Category::Permanent,
            Self::Probe { source, .. } => source.category(),
            Self::Inside { .. } => Category::Config,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "scope-unreadable",
            Self::Probe { .. } => "scope-probe-failed",
            Self::Inside { .. } => "inside-session",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Unreadable { .. } => {
                "mount /proc so that a process may read the environment of its own children".into()
            }
            Self::Probe { .. } => "install coreutils, or put `sleep` on PATH".into(),
            Self::Inside { .. } => "run the command from a shell outside the session".into(),
        })
    }
}

/// A cloud: identity, discovery, deletion.
pub trait Cloud {
    /// Proves that this process may act for the scope and can find what belongs to it.
    fn prove(&self, scope: Scope) -> impl Future<Output = Result<ProvenScope, CloudError>>;

    /// Everything that exists for the scope now. "Could not look" is an error, never an empty list.
    fn scan(
        &self,
        scope: &ProvenScope,
        ledger: &Ledger,
    ) -> impl Future<Output = Result<Vec<Found>, CloudError>>;

    /// Deletes one found thing after looking at it once more; true when it is gone.
    fn delete(
        &self,
        scope: &ProvenScope,
        found: &Found,
    ) -> impl Future<Output = Result<bool, CloudError>>;
}
