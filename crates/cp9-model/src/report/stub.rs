//! What `stub serve --check` answers: what a stub would serve, and what it would not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of `stub serve --check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubReport {
    /// `openapi`, `metering-recorder`, `billing-recorder` or `permissive`.
    pub kind: String,
    /// The contract, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The contract's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The operations that are served.
    pub operations: Vec<StubOperation>,
    /// The operations without a valid answer; a stub that has any is not served.
    pub refusals: Vec<StubRefusal>,
}

/// An operation that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubOperation {
    /// Its `operationId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its method, in capitals.
    pub method: String,
    /// Its path template.
    pub path: String,
    /// The status it answers with.
    pub status: u16,
    /// The media types it answers in, the default first; none if there is no body.
    pub content_types: Vec<String>,
}

/// An operation without a valid answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubRefusal {
    /// Its `operationId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its method, in capitals.
    pub method: String,
    /// Its path template.
    pub path: String,
    /// Why.
    pub reason: String,
}
