//! What names one object of a cloud for good, and the set of those that are proven to be the scope's.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The region of what belongs to none, such as an IAM role.
pub const GLOBAL: &str = "global";

/// One object of a cloud account. Two objects never share a key, also not one after the other.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Key {
    /// The region; `global` for kinds that have none.
    pub region: String,
    /// The kind as `service:type`, such as `ec2:instance`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The id that the service gives to this object and to no later one of the same name; its ARN where
    /// the service has none.
    pub id: String,
}

impl Key {
    /// A key from its parts.
    pub fn new(region: impl Into<String>, kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            region: region.into(),
            kind: kind.into(),
            id: id.into(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.region, self.kind, self.id)
    }
}

/// What is proven to be the scope's and may be deleted: owner and session were both equal when it was last
/// looked at. Steps before a delete may change nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ours(BTreeSet<Key>);

impl Ours {
    /// Whether this object is one of them.
    pub fn holds(&self, key: &Key) -> bool {
        self.0.contains(key)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Key> {
        self.0.iter()
    }
}

impl FromIterator<Key> for Ours {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}
