//! A plan as `terraform show -json` prints it: only what the rules read. Fields that this build does not
//! know are passed over; a format of another major version is refused.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::explain::{Category, Explain};

/// Why a plan or a state cannot be read.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// Not JSON of the expected shape.
    #[error("the {what} of Terraform is not what its format says")]
    Malformed {
        /// `plan` or `state`.
        what: &'static str,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
    /// Another major version of the format.
    #[error("the {what} of Terraform has format `{found}`, this cp9 reads `{known}`")]
    Format {
        /// `plan` or `state`.
        what: &'static str,
        /// Its version.
        found: String,
        /// The version that is known.
        known: &'static str,
    },
}

impl Explain for Unreadable {
    fn category(&self) -> Category {
        Category::Permanent
    }
    fn code(&self) -> &'static str {
        "terraform-format"
    }
    fn remedy(&self) -> Option<String> {
        Some("use a Terraform of version 1 or an OpenTofu that this cp9 knows".into())
    }
}

/// A whole plan.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Plan {
    /// `1.2` and its like.
    #[serde(default)]
    pub(super) format_version: String,
    /// The values of the root's variables.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, Variable>,
    /// What happens to each resource.
    #[serde(default)]
    pub(super) resource_changes: Vec<ResourceChange>,
    /// What was written.
    #[serde(default)]
    pub(super) configuration: Configuration,
    /// True if planning went wrong midway.
    #[serde(default)]
    pub(super) errored: bool,
    /// False if something is put off to a later plan.
    #[serde(default)]
    pub(super) complete: Option<bool>,
}

/// The value of a variable.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Variable {
    #[serde(default)]
    pub(super) value: Value,
}

/// What happens to one resource.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ResourceChange {
    pub(super) address: String,
    #[serde(default)]
    pub(super) mode: String,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) provider_name: String,
    #[serde(default)]
    pub(super) change: Change,
}

/// A change.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Change {
    #[serde(default)]
    pub(super) actions: Vec<String>,
    #[serde(default)]
    pub(super) before: Value,
    #[serde(default)]
    pub(super) after: Value,
    #[serde(default)]
    pub(super) after_unknown: Value,
    /// Something that exists is taken in.
    #[serde(default)]
    pub(super) importing: Option<Value>,
}

/// What was written.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Configuration {
    #[serde(default)]
    pub(super) provider_config: BTreeMap<String, ProviderConfig>,
    #[serde(default)]
    pub(super) root_module: Module,
}

/// How a provider is set up.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ProviderConfig {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) full_name: String,
    #[serde(default)]
    pub(super) module_address: Option<String>,
    #[serde(default)]
    pub(super) expressions: serde_json::Map<String, Value>,
}

/// A module as written.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Module {
    #[serde(default)]
    pub(super) resources: Vec<Declared>,
    #[serde(default)]
    pub(super) module_calls: BTreeMap<String, ModuleCall>,
}

/// A module inside another one.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ModuleCall {
    #[serde(default)]
    pub(super) module: Module,
}

/// A resource or data source as written.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Declared {
    #[serde(default)]
    pub(super) address: String,
    #[serde(default)]
    pub(super) mode: String,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) provider_config_key: Option<String>,
    #[serde(default)]
    pub(super) provisioners: Vec<Provisioner>,
}

/// A program that runs when a resource is made.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Provisioner {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
}

impl Plan {
    /// Reads what `terraform show -json` printed.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let plan: Self = serde_json::from_slice(bytes).map_err(|source| Unreadable::Malformed {
            what: "plan",
            source,
        })?;
        if plan.format_version.split('.').next() != Some("1") {
            return Err(Unreadable::Format {
                what: "plan",
                found: plan.format_version,
                known: "1.x",
            });
        }
        Ok(plan)
    }

    /// True if applying it would change nothing outside.
    pub fn is_empty(&self) -> bool {
        let quiet = |action: &String| action == "no-op" || action == "read";
        let mut changes = self.managed();
        changes.all(|change| change.change.actions.iter().all(quiet))
    }

    /// How many resources are added, changed and destroyed.
    pub fn counts(&self) -> (usize, usize, usize) {
        let count = |test: fn(&Change) -> bool| self.managed().filter(|c| test(&c.change)).count();
        (
            count(Change::makes),
            count(Change::changes),
            count(Change::ends),
        )
    }

    pub(super) fn managed(&self) -> impl Iterator<Item = &ResourceChange> {
        let changes = self.resource_changes.iter();
        changes.filter(|change| change.mode != "data")
    }

    /// The value of a variable of the root that is known as text.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.value.as_str()
    }
}
