//! The resolved service graph, `services/plan.json`.

use serde::{Deserialize, Serialize};

use crate::name::ServiceName;

/// How a service is provided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceKind {
    /// Built from a local checkout and watched.
    Source,
    /// The real service from declared manifests.
    Live,
    /// A generated or recording replacement.
    Stub,
}

/// All services of a session, in first-start order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceGraph {
    /// Always `cp9.services/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// The services, those needed first standing first.
    pub services: Vec<ServiceNode>,
}

/// One service of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceNode {
    /// The service's name.
    pub name: ServiceName,
    /// How it is provided.
    pub kind: ServiceKind,
    /// Services whose first success it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<ServiceName>,
    /// The application object it comes from; none for a stub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<AppBinding>,
    /// The checkout it is built from; only for `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceBinding>,
}

/// The application object a service is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppBinding {
    /// `Application` or `ApplicationSet`.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// The registry file, relative to the app-delivery root.
    pub registry: String,
    /// The selected environment.
    pub env: String,
    /// The rendered folder, relative to the app-delivery root.
    pub path: String,
}

/// The checkout of a source service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceBinding {
    /// The absolute folder.
    pub repo: String,
    /// The wanted git ref, if any.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
}
