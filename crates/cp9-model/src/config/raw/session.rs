//! The whole file.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use super::scope::{Ci, Clouds, Contracts, Credentials, Reaper, Tunnel};
use super::values::{Metadb, Registry, Retry, SecretInputs, Trace};
use super::{AppDelivery, Controller, Host, Services, Target, Terraform, Tilt};

/// One cp9 session: where it runs, what it is made of, how it is driven.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "cp9 session file")]
pub(crate) struct Session {
    /// The version of the format.
    #[serde(rename = "apiVersion")]
    #[expect(
        dead_code,
        reason = "the schema checks it; the resolved form spells it itself"
    )]
    pub(crate) api_version: ApiVersion,
    /// The kind of the document.
    #[expect(
        dead_code,
        reason = "the schema checks it; the resolved form spells it itself"
    )]
    pub(crate) kind: Kind,
    /// The session's name: cluster name, resource prefix, tag value and tenant id at once.
    /// 3 to 32 lower-case letters, digits and inner hyphens, starting with a letter.
    #[schemars(regex(pattern = r"^[a-z]([a-z0-9-]{1,30})[a-z0-9]$"))]
    pub(crate) name: String,
    /// Who owns change, build, deploy and verify.
    #[serde(default)]
    pub(crate) controller: Controller,
    /// Where the services run; child processes of this machine by default.
    pub(crate) host: Option<Host>,
    /// The cloud that is written to; none but this machine by default.
    pub(crate) target: Option<Target>,
    /// The substrate's Terraform root.
    pub(crate) terraform: Option<Terraform>,
    /// Where the app environments come from.
    #[serde(rename = "appDelivery")]
    pub(crate) app_delivery: Option<AppDelivery>,
    /// How the controller is started.
    pub(crate) tilt: Option<Tilt>,
    /// The services, each in exactly one of `source`, `live` and `stub`.
    pub(crate) services: Option<Services>,
    /// The services built from source; every key of `services.source` by default.
    pub(crate) source_build_services: Option<Vec<String>>,
    /// Secret inputs by service.
    pub(crate) secrets: Option<IndexMap<String, SecretInputs>>,
    /// Retry budgets by lifecycle state.
    pub(crate) retry: Option<Retry>,
    /// Where trace ids stand in headers and log lines.
    pub(crate) trace: Option<Trace>,
    /// What a CI principal may claim.
    pub(crate) ci: Option<Ci>,
    /// Per-cloud scope of discovery and deletion.
    pub(crate) clouds: Option<Clouds>,
    /// Where leftovers are looked for.
    pub(crate) reaper: Option<Reaper>,
    /// A private network path, used only when named.
    pub(crate) tunnel: Option<Tunnel>,
    /// Credential overrides by cloud.
    pub(crate) credentials: Option<Credentials>,
    /// Schema and data of the service databases.
    pub(crate) metadb: Option<Metadb>,
    /// Image registries by host name, credentials by reference.
    pub(crate) registries: Option<IndexMap<String, Registry>>,
    /// The source contracts of the services.
    pub(crate) contracts: Option<Contracts>,
}

/// The version of the format.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(crate) enum ApiVersion {
    #[serde(rename = "cp9.tidbcloud.com/v1alpha2")]
    V1Alpha2,
}

/// The kind of the document.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub(crate) enum Kind {
    Session,
}
