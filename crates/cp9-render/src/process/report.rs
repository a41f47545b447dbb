//! `tilt/reports/context-report.json`: what each service was made from and what was changed.

use cp9_model::graph::{AppBinding, ServiceKind};
use serde::{Deserialize, Serialize};

use crate::overrides::AppliedOverride;

/// The version word of the report.
pub const API_VERSION: &str = "cp9.context/v1";

/// The whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextReport {
    /// Always `cp9.context/v1`.
    pub api_version: String,
    /// Who and what everything is marked with.
    pub scope: ReportScope,
    /// Where the applications come from.
    pub app_delivery: ReportDelivery,
    /// Every service, in first-start order.
    pub services: Vec<ServiceContext>,
}

/// Who and what everything is marked with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportScope {
    /// The owner.
    pub owner: String,
    /// The session.
    pub session: String,
    /// The cloud account; none on `local`.
    pub account: Option<String>,
    /// Who acts there, as an ARN; none on `local`.
    pub role: Option<String>,
}

/// Where the applications come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportDelivery {
    /// The folder or repository.
    pub repo: String,
    /// The git ref.
    #[serde(rename = "ref")]
    pub git_ref: Option<String>,
    /// The session's environment.
    pub env: String,
}

/// One service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceContext {
    /// Its name.
    pub name: String,
    /// How it is provided.
    pub kind: ServiceKind,
    /// The application object, its environment and folder; none for a stub.
    pub app: Option<AppBinding>,
    /// `spec.source.repoURL`, which is not followed.
    pub repo_url: Option<String>,
    /// `spec.source.targetRevision`, which is not followed.
    pub target_revision: Option<String>,
    /// The resource of the dev plan.
    pub resource: String,
    /// What the controller is given: `rendered-yaml` for a plain directory, `stub` for a stub.
    pub input: String,
    /// How a stub answers: `openapi`, `metering-recorder`, `billing-recorder`, `permissive`, or
    /// `permissive (definition missing)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stub: Option<String>,
    /// The workload that became the process.
    pub workload: Option<String>,
    /// Its container.
    pub container: Option<String>,
    /// The files that were read.
    pub files: Vec<String>,
    /// Files of the folder that hold no object or ask not to be rendered.
    pub skipped_files: Vec<String>,
    /// User overrides in force, in the order in which they were applied.
    pub overrides: Vec<AppliedOverride>,
    /// Terraform outputs in use.
    pub terraform_outputs: Vec<String>,
    /// Tokens that were replaced.
    pub rewrites: Vec<Rewrite>,
    /// Mentions of services that were left alone, as their port leads nowhere here.
    pub not_rewritten: Vec<Rewrite>,
    /// Objects and fields without meaning on this host.
    pub not_applied: Vec<String>,
    /// Parts left out by `run.ignore`.
    pub ignored: Vec<String>,
    /// Anything else worth reading.
    pub notes: Vec<String>,
    /// `none`: nothing stood in for something else.
    pub fallback: String,
}

/// A token that was replaced, or left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    /// Where it stands: `env/NAME`, `argv/N`, `file/PATH`, `probe/KIND`.
    #[serde(rename = "where")]
    pub place: String,
    /// `port`, `name` or `path`.
    pub rule: String,
    /// The token in the manifest.
    pub from: String,
    /// What it is now; empty if it was left alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to: String,
}
