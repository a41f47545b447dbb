//! The identity that a session was last proven to have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who a session was last proven to be on its cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdentityReport {
    /// The account.
    pub account: String,
    /// The region.
    pub region: String,
    /// The principal that writes, as an ARN.
    pub principal: String,
    /// How the owner is known: `sso`, `role` or `ci`.
    pub owner_source: String,
    /// Where the credentials come from.
    pub credentials: String,
    /// When the credentials end, RFC 3339; none if they last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The AWS configuration file whose profile `cp9` gives the session's own processes this identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Seconds until then; negative when they have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<i64>,
}
