//! What `setup` answers: what it proved of each cloud that the session writes to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `setup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupReport {
    /// The session file, if there is one; all that it names has an adapter in this build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Every cloud that the session writes to.
    pub clouds: Vec<CloudProof>,
    /// What was created; `setup` creates nothing.
    pub created: Vec<String>,
}

/// What was proved of a cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CloudProof {
    /// The cloud, `local` for this machine.
    pub cloud: String,
    /// Who acts there.
    pub owner: String,
    /// The proofs, each a lower-case fragment.
    pub proofs: Vec<String>,
    /// Whether credentials are needed, and which.
    pub credentials: String,
}
