//! How an object of a type is deleted, as its row spells it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::row::{Ask, Mark};

/// One call of a deletion: plain, or for each item of a listing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The operation; with `list`, for each of its items.
    #[serde(default)]
    pub call: String,
    /// Its input; `{.path}` is of the listing's item, or of the object.
    #[serde(default, rename = "in")]
    pub input: Value,
    /// The query string of a REST call.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// The bucket of a call to S3.
    #[serde(default)]
    pub bucket: Option<String>,
    /// The service, where it is another than the row's.
    #[serde(default)]
    pub service: Option<String>,
    /// What is listed first.
    #[serde(default)]
    pub list: Option<Ask>,
    /// Only for items of which this holds.
    #[serde(default)]
    pub only: Option<Mark>,
    /// The object that it changes, which must be the scope's: its kind, and the path to its id.
    #[serde(default)]
    pub ours: Option<Other>,
    /// It is made only after the last call was refused with one of these codes, which is then repeated.
    #[serde(default)]
    pub after: Vec<String>,
    /// What no table can say: the name of a procedure of the interpreter.
    #[serde(default, rename = "do")]
    pub procedure: Option<Procedure>,
}

/// Another object that a step changes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    /// Its kind.
    pub kind: String,
    /// The path to its id, name or ARN.
    pub at: String,
}

/// Steps that are code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// Deletes all versions, markers and unfinished uploads of a bucket.
    EmptyBucket,
    /// Deletes all records of a zone but its own two.
    EmptyZone,
    /// Turns a distribution off.
    DisableDistribution,
}

/// How the last call of a deletion ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// It is gone.
    #[default]
    Done,
    /// It is on its way out.
    Started,
    /// It goes by itself later.
    Later,
}

impl Step {
    /// The call of the step.
    pub fn ask(&self) -> Ask {
        Ask {
            call: Some(self.call.clone()),
            input: self.input.clone(),
            query: self.query.clone(),
            bucket: self.bucket.clone(),
            service: self.service.clone(),
            ..Ask::default()
        }
    }
}
