//! The result of `deploy`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::generation::Generation;
use crate::graph::ServiceKind;

/// The result of `deploy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeployReport {
    /// The session's name.
    pub session: String,
    /// The service.
    pub service: String,
    /// How it is provided.
    pub kind: ServiceKind,
    /// What was done, in order, as far as it came.
    pub steps: Vec<DeployStep>,
    /// True when it runs and is ready.
    pub ready: bool,
    /// Where it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Its process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What was measured at the end; none when it did not come that far.
    pub generation: Option<Generation>,
    /// Seconds that all of it took.
    pub seconds: f64,
}

/// One step of a deploy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeployStep {
    /// `controller`, `build`, `run` or `proof`.
    pub name: String,
    /// `done`, `kept` or `failed`.
    pub status: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// What it did, or why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
