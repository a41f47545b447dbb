//! What a look at a whole account shows, and what of it could not be looked at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::found::Found;

/// An account as it was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// Everything that carries a tag of the scope, that is known by its id, or that is inside of either;
    /// each once.
    pub found: Vec<Found>,
    /// What could not be looked at. It is never taken for empty.
    pub unverified: Vec<Unverified>,
    /// Regions that an explicit deny closes to reading and making alike: nothing of ours can be there.
    pub closed: Vec<String>,
}

/// A question that was not answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unverified {
    /// The region.
    pub region: String,
    /// The kind that was asked for; none when all kinds of the service were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The service, such as `ec2`.
    pub service: String,
    /// The permission that is missing, such as `ec2:DescribeVpcs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    /// What kept it from being answered.
    pub why: Why,
    /// What the service said, redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What kept a question from being answered.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The permission is missing.
    Denied,
    /// Too many calls, also after the retries.
    Throttled,
    /// No answer in time.
    TimedOut,
    /// Anything else.
    Failed,
}
