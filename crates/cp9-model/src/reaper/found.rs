//! One object of a cloud as its own service describes it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::key::Key;

/// An object that exists, or that is still listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which one.
    pub key: Key,
    /// Its ARN, or what the cloud has in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arn: Option<String>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Its tags; none when they could not be read: then it is nobody's that we know of, and is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Whether it is there.
    pub life: Life,
    /// What cannot go while this exists, by what the service describes: an instance uses its subnet and
    /// its groups. May name objects that were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Key>,
    /// What holds it: the VPC of a subnet, the load balancer of a listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Key>,
    /// Who made it.
    pub maker: Maker,
    /// What keeps it from being deleted, such as `deletion protection`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<String>,
    /// What the cloud's own delete calls need besides the key; nobody else reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<serde_json::Value>,
}

impl Found {
    /// A living object of which nothing but its key is known.
    pub fn new(key: Key) -> Self {
        Self {
            key,
            arn: None,
            name: None,
            created: None,
            tags: None,
            life: Life::Alive,
            uses: Vec::new(),
            inside: None,
            maker: Maker::Person,
            protection: None,
            facts: None,
        }
    }
}

/// Whether an object is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    /// It is.
    Alive,
    /// Its deletion is under way. It is not gone.
    Ending,
    /// It is gone and only still listed, or will go by itself on a date that cannot be changed.
    Terminal,
}

/// Who made an object (requirements, conflict 37).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "maker")]
pub enum Maker {
    /// A person or a program: anybody. Untagged, it is never deleted.
    Person,
    /// The cloud itself, or a service for an object of the user's; a describe call says so.
    Cloud {
        /// The service, or the id of what it was made for.
        by: String,
    },
    /// It came with its container, as the default group of a VPC, and goes with it.
    Default,
}

/// What a fresh look at one object shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// It is there, alive or ending.
    Alive(Box<Found>),
    /// It is gone and only still listed.
    Terminal,
    /// It is gone.
    Gone,
}
