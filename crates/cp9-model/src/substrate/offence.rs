//! What a plan does that it must not.

use serde::{Deserialize, Serialize};

/// Which rule a plan breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A kind of resource that the substrate never makes.
    Kind,
    /// A taggable resource without the four tags.
    Tags,
    /// A nameable resource without the session's name in front.
    Name,
    /// A resource outside the proven account.
    Account,
    /// A resource outside the proven region.
    Region,
    /// A provider with an identity of its own.
    Identity,
    /// A provider of another place than the proven account.
    Provider,
    /// Something that was made elsewhere and does not belong to the session.
    Foreign,
    /// A program or a state of others that the plan reads or runs.
    Reach,
    /// A plan that does not show everything.
    Incomplete,
}

impl Rule {
    /// The stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Tags => "tags",
            Self::Name => "name",
            Self::Account => "account",
            Self::Region => "region",
            Self::Identity => "identity",
            Self::Provider => "provider",
            Self::Foreign => "foreign",
            Self::Reach => "reach",
            Self::Incomplete => "incomplete",
        }
    }
}

/// One thing that a plan does and must not, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Offence {
    /// The resource, data source, or provider configuration.
    pub address: String,
    /// The rule.
    pub rule: Rule,
    /// What is wrong.
    pub message: String,
    /// What to change.
    pub remedy: String,
}

impl Offence {
    pub(super) fn new(
        address: &str,
        rule: Rule,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            address: address.to_owned(),
            rule,
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}
