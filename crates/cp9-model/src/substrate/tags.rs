//! The four tags that everything of a substrate carries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::name::{Owner, SessionName};
use crate::scope::{TAG_OWNER, TAG_SESSION};

/// Tag key that says who made a thing.
pub const TAG_MANAGED: &str = "cp9-managed";
/// Tag key of the time to live, as the session file gives it.
pub const TAG_TTL: &str = "cp9-ttl";
/// The value of `cp9-managed` on everything that the substrate makes.
pub const MANAGED: &str = "terraform-substrate";

/// What the tags of a session's substrate say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTags {
    /// Whose it is.
    pub owner: Owner,
    /// The session.
    pub session: SessionName,
    /// The duration as configured, such as `8h`; `none` where nothing is configured.
    pub ttl: String,
}

impl SessionTags {
    /// The tags of a session; a session without a time to live says `none`, as a tag must have a value.
    pub fn new(owner: Owner, session: SessionName, ttl: Option<&str>) -> Self {
        let ttl = ttl.unwrap_or("none").to_owned();
        Self {
            owner,
            session,
            ttl,
        }
    }

    /// Keys and values, in the order of the keys.
    pub fn map(&self) -> BTreeMap<&'static str, &str> {
        BTreeMap::from([
            (TAG_MANAGED, MANAGED),
            (TAG_OWNER, self.owner.as_str()),
            (TAG_SESSION, self.session.as_str()),
            (TAG_TTL, self.ttl.as_str()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_tags_and_no_value_is_empty() {
        let session = "demo".parse().expect("a name");
        let tags = SessionTags::new(Owner::new("Alice@Example.com"), session, None);
        let map: Vec<_> = tags.map().into_iter().collect();
        assert_eq!(
            map,
            [
                ("cp9-managed", "terraform-substrate"),
                ("cp9-owner", "alice@example.com"),
                ("cp9-session", "demo"),
                ("cp9-ttl", "none"),
            ]
        );
    }
}
