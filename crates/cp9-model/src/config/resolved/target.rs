//! Which cloud is written to, where in it, and as whom.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::identity::{Accounts, Arn};

/// Which cloud is written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The cloud.
    pub cloud: CloudName,
    /// The region; none on `local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Where on AWS, and as whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsTarget>,
}

/// Where on AWS, and as whom. What the `clouds.aws` block says too is taken where this one is silent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsTarget {
    /// The accounts that may be written to; none means none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account_allowlist: Vec<String>,
    /// Accounts that are refused whatever else is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account_blocklist: Vec<String>,
    /// The profile of the AWS configuration; else what the environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The role that is assumed, unless it is already the running identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<Arn>,
    /// Session tags that the role must carry, besides owner and session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session_tags: Vec<String>,
}

/// What CI may claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ci {
    /// The owners that each principal, named by its ARN, may claim.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owner_allowlist: BTreeMap<String, Vec<String>>,
}

impl Ci {
    /// True if nobody may claim anything.
    pub fn is_empty(&self) -> bool {
        self.owner_allowlist.is_empty()
    }
}

/// A cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CloudName {
    /// This machine alone.
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

impl AwsTarget {
    /// The accounts that may be written to.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts {
            allowed: &self.account_allowlist,
            blocked: &self.account_blocklist,
        }
    }
}
