//! CI claims, per-cloud scope, private network, credentials, contracts.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Cloud;

/// What a CI principal may claim.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ci {
    /// The owners that a principal, named by its ARN, may assert.
    pub(crate) owner_allowlist: Option<IndexMap<String, Vec<String>>>,
}

/// Per-cloud scope of discovery and deletion.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clouds {
    /// Amazon Web Services.
    pub(crate) aws: Option<AwsScope>,
    /// Google Cloud.
    pub(crate) gcp: Option<GcpScope>,
    /// Microsoft Azure.
    pub(crate) azure: Option<AzureScope>,
    /// Alibaba Cloud.
    pub(crate) alicloud: Option<AlicloudScope>,
}

/// The scope on AWS.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AwsScope {
    /// The profile of the AWS configuration.
    pub(crate) profile: Option<String>,
    /// The regions that may hold things of the session.
    pub(crate) regions: Option<Vec<String>>,
    /// The accounts that may be written to, twelve digits in quotes.
    pub(crate) account_allowlist: Option<Vec<String>>,
    /// Accounts that are refused whatever their tags say.
    pub(crate) account_blocklist: Option<Vec<String>>,
    /// How long things may live, such as `72h`.
    #[schemars(regex(pattern = r"^([0-9]+[dhms])+$"))]
    pub(crate) ttl: Option<String>,
}

/// The scope on Google Cloud.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GcpScope {
    /// The regions that may hold things of the session.
    pub(crate) regions: Option<Vec<String>>,
    /// The projects that may be written to.
    pub(crate) project_allowlist: Option<Vec<String>>,
}

/// The scope on Azure.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AzureScope {
    /// The regions that may hold things of the session.
    pub(crate) regions: Option<Vec<String>>,
    /// The subscriptions that may be written to.
    pub(crate) subscription_allowlist: Option<Vec<String>>,
}

/// The scope on Alibaba Cloud.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlicloudScope {
    /// The profile of the Alibaba configuration.
    pub(crate) profile: Option<String>,
    /// The regions that may hold things of the session.
    pub(crate) regions: Option<Vec<String>>,
    /// The accounts that may be written to.
    pub(crate) account_allowlist: Option<Vec<String>>,
}

/// Where leftovers are looked for.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reaper {
    /// The clouds.
    pub(crate) clouds: Option<Vec<Cloud>>,
    /// The regions where a cloud names none.
    pub(crate) default_regions: Option<Vec<String>>,
}

/// A private network path.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tunnel {
    /// How the path is made.
    pub(crate) mechanism: Mechanism,
    /// The network at its far end.
    pub(crate) vpc_a: Option<VpcA>,
}

/// How a private network path is made.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mechanism {
    /// Tailscale.
    Tailscale,
    /// AWS Session Manager.
    Ssm,
    /// A VPN client.
    VpnClient,
    /// A private link.
    PrivateLink,
}

/// The network at the far end.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VpcA {
    /// Its account.
    pub(crate) account: Option<String>,
    /// Its region.
    pub(crate) region: Option<String>,
    /// The address that traffic must come from.
    pub(crate) expected_egress_eip: Option<String>,
}

/// Credential overrides by cloud.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    /// Google Cloud.
    pub(crate) gcp: Option<GcpCredentials>,
}

/// Credentials on Google Cloud.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GcpCredentials {
    /// The file of a service account's key.
    pub(crate) service_account_key: Option<String>,
}

/// The source contracts of the services.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contracts {
    /// The file that holds them.
    pub(crate) file: String,
}
