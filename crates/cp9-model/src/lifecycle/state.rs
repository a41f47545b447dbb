//! The states of `up` and what the journal, `state.json`, says of each.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::explain::{Category, Explain};
use crate::name::{Owner, SessionName};
use crate::scope::Scope;

/// The format number of `state.json`; newer ones are refused.
pub const FORMAT: u32 = 1;

macro_rules! states {
    ($(#[doc = $doc:literal] $variant:ident = $word:literal: $kind:ident,)*) => {
        /// A state of the lifecycle, in order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum StateName { $(#[doc = $doc] $variant,)* }

        impl StateName {
            /// Every state, the optional ones too, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The state's word in files and messages.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// How the state does its work.
            pub fn kind(self) -> StateKind {
                match self { $(Self::$variant => StateKind::$kind,)* }
            }

            /// What the state makes true, one line for the docs.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

states! {
    #[doc = "The folder is locked, the needed programs and paths are there."]
    Preflight = "preflight": Gate,
    #[doc = "The session file is valid and its resolved form is written."]
    ConfigLoad = "config_load": Once,
    #[doc = "The owner of the session is known."]
    OwnerIdentityReady = "owner_identity_ready": Gate,
    #[doc = "Who writes and where is proven, and that the scope can be scanned."]
    IamReady = "iam_ready": Gate,
    #[doc = "The substrate's Terraform source is copied and initialised."]
    SubstrateInit = "substrate_init": Once,
    #[doc = "The substrate's changes are planned and checked."]
    SubstratePlan = "substrate_plan": Once,
    #[doc = "The substrate exists and its outputs are written."]
    SubstrateApply = "substrate_apply": Once,
    #[doc = "The remote host answers."]
    RemoteHostReady = "remote_host_ready": Gate,
    #[doc = "The selected host exists: folders, ports, cluster."]
    HostReady = "host_ready": Once,
    #[doc = "The private network is reachable."]
    NetworkReady = "network_ready": Gate,
    #[doc = "The graph of services is resolved and every name and environment is checked."]
    ServicePlan = "service_plan": Once,
    #[doc = "The databases have their schema and seed."]
    MetadbSeed = "metadb_seed": PerItem,
    #[doc = "The inputs of every service are rendered."]
    ContextMaterialize = "context_materialize": Once,
    #[doc = "The dev plan and the context report are written."]
    TiltfileGenerate = "tiltfile_generate": Once,
    #[doc = "The controller runs this plan."]
    TiltReady = "tilt_ready": Gate,
    #[doc = "Every resource has had a verdict; day-2 commands are unlocked."]
    SessionReady = "session_ready": Gate,
}

impl StateName {
    /// True for a state that appears only when a session selects it.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::RemoteHostReady | Self::NetworkReady)
    }

    /// True for a state that every process proves anew, however often it was done.
    pub fn is_proven_anew(self) -> bool {
        matches!(
            self,
            Self::Preflight | Self::OwnerIdentityReady | Self::IamReady
        )
    }

    /// The state of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|state| state.as_str() == word)
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a state does its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// One piece of work.
    Once,
    /// One piece of work per item, with progress kept per item.
    PerItem,
    /// A condition that must hold.
    Gate,
}

/// Where a state stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateStatus {
    /// Not begun.
    #[default]
    Pending,
    /// At work; left behind by a process that was killed.
    Running,
    /// Done.
    Done,
    /// Nothing to do.
    Skipped,
    /// Some items are done.
    Partial,
    /// Failed.
    Failed,
    /// Stopped by a signal or found unfinished.
    Interrupted,
}

impl StateStatus {
    /// True when the next state may begin.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }

    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Where one item of a per-item state stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemStatus {
    /// Done.
    Done,
    /// Failed, with the message.
    Failed(String),
}

/// The last error of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastError {
    /// The error's kind.
    pub category: String,
    /// Its stable word.
    pub code: String,
    /// What happened, redacted.
    pub message: String,
}

/// One state in the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateEntry {
    /// Where it stands.
    pub status: StateStatus,
    /// Attempts in its last run.
    pub attempts: u32,
    /// The digest of what it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// When its last attempt began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub started: Option<Timestamp>,
    /// When its last attempt ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub finished: Option<Timestamp>,
    /// Progress per item.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub items: BTreeMap<String, ItemStatus>,
    /// Why there was nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it wrote or proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<LastError>,
}

/// The journal of a session, `state.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionState {
    /// The format number.
    pub format: u32,
    /// The random id of the folder.
    pub id: String,
    /// The session's name.
    #[schemars(with = "String")]
    pub name: SessionName,
    /// The session file it came from.
    pub file: String,
    /// The owner, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub owner: Option<Owner>,
    /// When the folder was made.
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// True between `pause` and the next `up`.
    #[serde(default)]
    pub paused: bool,
    /// The states of this session, in order.
    #[schemars(with = "BTreeMap<StateName, StateEntry>")]
    pub states: IndexMap<StateName, StateEntry>,
}

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// Written by a newer cp9.
    #[error("`{path}` has format {found}, this cp9 knows up to {FORMAT}")]
    Newer {
        /// The file.
        path: String,
        /// Its format number.
        found: u64,
    },
    /// Not a journal.
    #[error("`{path}` is not a journal of a session")]
    Malformed {
        /// The file.
        path: String,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
}

impl Explain for Unreadable {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "journal-unreadable"
    }
    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Newer { .. } => "use the cp9 that wrote it, or a newer one".into(),
            Self::Malformed { path, .. } => {
                format!("restore `{path}`, or run `cp9 destroy --force`")
            }
        })
    }
}

impl SessionState {
    /// What marks everything that belongs to the session; the owner is `local` until one is known.
    pub fn scope(&self) -> Scope {
        let owner = self.owner.clone();
        Scope {
            owner: owner.unwrap_or_else(|| Owner::new(Owner::LOCAL)),
            session: self.name.clone(),
            id: self.id.clone(),
        }
    }

    /// A journal in which nothing has begun.
    pub fn new(id: String, name: SessionName, file: String, created: Timestamp) -> Self {
        let states = StateName::ALL
            .iter()
            .filter(|state| !state.is_optional())
            .map(|state| (*state, StateEntry::default()))
            .collect();
        Self {
            format: FORMAT,
            id,
            name,
            file,
            owner: None,
            created,
            paused: false,
            states,
        }
    }

    /// Reads a journal; newer formats are refused before anything else is looked at.
    pub fn parse(path: &str, bytes: &[u8]) -> Result<Self, Unreadable> {
        let malformed = |source| Unreadable::Malformed {
            path: path.to_owned(),
            source,
        };
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(malformed)?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(found) if found > u64::from(FORMAT) => Err(Unreadable::Newer {
                path: path.to_owned(),
                found,
            }),
            _ => serde_json::from_value(value).map_err(malformed),
        }
    }

    /// The journal as written to disk.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes =
            serde_json::to_vec_pretty(self).expect("a journal is plain data and always serialises");
        bytes.push(b'\n');
        bytes
    }

    /// What the journal says of a state.
    pub fn entry(&self, state: StateName) -> StateEntry {
        self.states.get(&state).cloned().unwrap_or_default()
    }

    /// The first state that has not settled.
    pub fn first_unsettled(&self) -> Option<StateName> {
        self.states
            .iter()
            .find(|(_, entry)| !entry.status.is_settled())
            .map(|(state, _)| *state)
    }

    /// True if every service has had its verdict once, whatever has become of the session since.
    pub fn was_ready(&self) -> bool {
        !self.entry(StateName::SessionReady).evidence.is_empty()
    }
}
