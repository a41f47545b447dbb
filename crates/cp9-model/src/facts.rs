//! The session facts, `session-facts.json`: what tests and tools may know of a session. No secrets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::ServiceKind;
use crate::output::Target;

/// The version word of the facts file.
pub const API_VERSION: &str = "cp9.facts/v1";

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionFacts {
    /// Always `cp9.facts/v1`.
    pub api_version: String,
    /// The session's name.
    pub session: String,
    /// The session's owner.
    pub owner: String,
    /// The random id of the session folder.
    pub id: String,
    /// The absolute session folder, `.cp9/<name>`.
    pub folder: String,
    /// The absolute session file.
    pub file: String,
    /// Who and where.
    pub target: Target,
    /// Every service, in first-start order.
    pub services: Vec<ServiceFacts>,
    /// False until every resource has had its first verdict.
    pub complete: bool,
}

/// What is known of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceFacts {
    /// The service's name.
    pub name: String,
    /// How it is provided.
    pub kind: ServiceKind,
    /// Where it answers, as a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Its loopback ports by the port in its manifest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<u16, u16>,
}
