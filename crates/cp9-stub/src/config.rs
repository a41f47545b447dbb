//! What a stub is told: its kind, its contract, where it listens and where it records.

use std::str::FromStr;

use camino::Utf8PathBuf;

use crate::error::StubError;
use crate::record::Hide;

/// What a stub does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers as an OpenAPI document says.
    OpenApi,
    /// Appends every request to a file: metering payloads.
    MeteringRecorder,
    /// Appends every request to a file: invoices.
    BillingRecorder,
    /// Answers everything with `200 {}`.
    Permissive,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::OpenApi,
        Self::MeteringRecorder,
        Self::BillingRecorder,
        Self::Permissive,
    ];

    /// The kind's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenApi => "openapi",
            Self::MeteringRecorder => "metering-recorder",
            Self::BillingRecorder => "billing-recorder",
            Self::Permissive => "permissive",
        }
    }

    /// True for the kinds that write what they are sent.
    pub fn records(self) -> bool {
        matches!(self, Self::MeteringRecorder | Self::BillingRecorder)
    }
}

impl FromStr for Kind {
    type Err = String;

    /// Reads a kind's word; `swagger`, the session file's word, means `openapi`.
    fn from_str(word: &str) -> Result<Self, String> {
        let word = if word == "swagger" { "openapi" } else { word };
        let known = Self::ALL.into_iter().find(|kind| kind.word() == word);
        known.ok_or_else(|| format!("one of {}", Self::ALL.map(Self::word).join(", ")))
    }
}

/// Everything a stub is told.
#[derive(Debug, Clone)]
pub struct Config {
    /// The service it stands for; told in its log.
    pub name: String,
    /// What it does.
    pub kind: Kind,
    /// The contract; `openapi` needs one, recorders may have one.
    pub definition: Option<Utf8PathBuf>,
    /// Where a recorder appends.
    pub output: Option<Utf8PathBuf>,
    /// The address to listen on, such as `127.0.0.1:0`.
    pub listen: String,
    /// The header that carries the trace id.
    pub trace_header: String,
    /// What a recorder leaves out of its recording.
    pub hide: Hide,
}

impl Config {
    /// A stub of a kind on a free loopback port.
    pub fn new(kind: Kind) -> Self {
        Self {
            name: "stub".to_owned(),
            kind,
            definition: None,
            output: None,
            listen: "127.0.0.1:0".to_owned(),
            trace_header: "X-Trace-Id".to_owned(),
            hide: Hide::default(),
        }
    }

    /// Refuses what is missing for the kind, or means nothing for it.
    pub fn check(&self) -> Result<(), StubError> {
        let kind = self.kind;
        let missing = |option| Err(StubError::Missing { kind, option });
        let surplus = |option| Err(StubError::Surplus { kind, option });
        match kind {
            Kind::OpenApi if self.definition.is_none() => missing("--definition"),
            Kind::Permissive if self.definition.is_some() => surplus("--definition"),
            _ if kind.records() && self.output.is_none() => missing("--output"),
            _ if !kind.records() && self.output.is_some() => surplus("--output"),
            _ => Ok(()),
        }
    }
}
