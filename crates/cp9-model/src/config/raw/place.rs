//! Controller, host and target.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who owns change, build, deploy and verify.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Controller {
    /// Tilt where there is a cluster, the embedded controller on `process` hosts.
    #[default]
    Auto,
    /// Tilt.
    Tilt,
    /// The small controller inside cp9.
    Embedded,
}

/// Where the services run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Host {
    /// The kind of host.
    #[serde(default)]
    pub(crate) mode: HostMode,
    /// How long the host may live after its last use, such as `8h` or `1d12h`.
    #[schemars(regex(pattern = r"^([0-9]+[dhms])+$"))]
    pub(crate) ttl: Option<String>,
    /// The kubeconfig of an existing cluster.
    pub(crate) kubeconfig: Option<String>,
    /// The context inside the kubeconfig.
    pub(crate) context: Option<String>,
    /// The k3d cluster that cp9 creates.
    pub(crate) k3d: Option<K3d>,
}

/// The kind of host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostMode {
    /// Child processes of this machine, without Docker or a cluster.
    #[default]
    Process,
    /// A k3d cluster that cp9 creates on this machine.
    LocalK3d,
    /// A cluster that you already have.
    ExistingCluster,
    /// A k3d cluster on an EC2 host.
    RemoteEc2K3d,
}

/// The k3d cluster that cp9 creates.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct K3d {
    /// Agent nodes.
    #[serde(default = "agents")]
    #[schemars(range(max = 32))]
    pub(crate) agents: u32,
    /// Memory of the nodes, such as `8G`.
    #[serde(default = "memory")]
    #[schemars(regex(pattern = r"^[1-9][0-9]*[MG]$"))]
    pub(crate) memory: String,
    /// Creates a registry beside the cluster.
    #[serde(default)]
    pub(crate) registry: bool,
}

fn agents() -> u32 {
    2
}

fn memory() -> String {
    "8G".into()
}

/// The cloud that is written to.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// The cloud.
    #[serde(default)]
    pub(crate) cloud: Cloud,
    /// The region, such as `us-west-2`; required but for `local`.
    pub(crate) region: Option<String>,
    /// The AWS account and identity.
    pub(crate) aws: Option<Aws>,
}

/// A cloud.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cloud {
    /// This machine alone.
    #[default]
    Local,
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
    /// Microsoft Azure.
    Azure,
    /// Alibaba Cloud.
    Alicloud,
}

/// The AWS account and identity.
#[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aws {
    /// The accounts that may be written to, twelve digits in quotes.
    pub(crate) account_allowlist: Option<Vec<String>>,
    /// Accounts that are refused whatever their tags say.
    pub(crate) account_blocklist: Option<Vec<String>>,
    /// The identity.
    pub(crate) iam: Option<Iam>,
}

/// The identity on AWS.
#[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Iam {
    /// The profile of the AWS configuration.
    pub(crate) profile: Option<String>,
    /// The role that is assumed.
    pub(crate) role_arn: Option<String>,
    /// Session tags that the role must carry.
    pub(crate) session_tags: Option<IndexMap<String, TagRule>>,
}

/// Whether a session tag must be there.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TagRule {
    /// It must be there.
    Required,
}
