//! The JSON envelope that every command prints under `--json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::explain::Category;

/// The version word of the envelope.
pub const API_VERSION: &str = "cp9.output/v1";

/// One command's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Always `cp9.output/v1`.
    pub api_version: String,
    /// The command, such as `up` or `db dump-init`.
    pub command: String,
    /// True if and only if the exit code is 0.
    pub ok: bool,
    /// The command's report; may accompany an error.
    pub data: Option<Value>,
    /// What went wrong.
    pub error: Option<ErrorBody>,
    /// Who and where.
    pub target: Option<Target>,
}

/// An error in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// `config`, `transient`, `permanent`, `resource`, or `usage`, `interrupted`, `bug`.
    pub category: String,
    /// A stable word, such as `session-locked`.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The chain of causes, outermost first.
    pub causes: Vec<String>,
    /// What to do.
    pub hints: Vec<String>,
    /// Problems of the session file, if that is what failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<crate::diagnostic::Diagnostic>,
    /// The exit code.
    pub exit: u8,
}

/// Who and where a command acted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The proven or persisted owner.
    pub owner: Option<String>,
    /// The session's name.
    pub session: Option<String>,
    /// `local`, `aws`, …
    pub cloud: Option<String>,
    /// The cloud account.
    pub account: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The host mode.
    pub host: Option<String>,
}

impl Category {
    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Transient => "transient",
            Self::Permanent => "permanent",
            Self::Resource => "resource",
        }
    }
}
