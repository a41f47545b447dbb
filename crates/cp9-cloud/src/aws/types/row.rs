//! A row of the type table, as its file spells it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::step::{Ends, Step};

/// One file of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    pub(super) version: u32,
    pub(super) services: BTreeMap<String, Service>,
    pub(super) types: Vec<Row>,
}

/// How a service is spoken to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Service {
    /// Its protocol.
    pub protocol: Wire,
    /// The version of a query API.
    #[serde(default)]
    pub version: String,
    /// What stands before the operation in the target of a JSON API.
    #[serde(default)]
    pub target: String,
    /// How its listings continue.
    #[serde(default)]
    pub page: Option<String>,
    /// Its name in permissions, where it is not that of signatures.
    #[serde(default)]
    pub permission: Option<String>,
    /// True when some regions do not have it.
    #[serde(default)]
    pub partial: bool,
}

/// The protocols, as the table names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// Form in, XML out.
    Query,
    /// The dialect of EC2.
    Ec2,
    /// JSON 1.0 with the operation in a header.
    Json10,
    /// JSON 1.1 with the operation in a header.
    Json11,
    /// Paths and JSON.
    RestJson,
    /// Paths and XML.
    RestXml,
}

/// One type.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    /// `service:type`.
    pub kind: String,
    /// Its ARN after the partition: `service:region:account:resource` with placeholders.
    pub arn: String,
    /// The service that is asked, where it is not the one of the ARN.
    #[serde(default)]
    pub service: Option<String>,
    /// Whether it belongs to a region.
    #[serde(default)]
    pub scope: Scope,
    /// How ids of the type begin.
    #[serde(default)]
    pub prefix: Option<String>,
    /// What finds it.
    #[serde(default = "by_tags")]
    pub find: Vec<Find>,
    /// How it is looked at; without it only the tagging API tells.
    pub describe: Ask,
    /// How all of a region are listed.
    #[serde(default)]
    pub list: Option<Ask>,
    /// What an item of a description says.
    #[serde(default)]
    pub is: Is,
    /// What it keeps from going, by kind: paths to ids, names or ARNs.
    #[serde(default)]
    pub uses: BTreeMap<String, OneOrMany>,
    /// What holds it.
    #[serde(default)]
    pub inside: Option<Container>,
    /// Kinds that must be gone first.
    #[serde(default)]
    pub after: Vec<String>,
    /// True when nothing has to be gone first.
    #[serde(default)]
    pub leaf: bool,
    /// Who else than a person may have made it.
    #[serde(default)]
    pub made: Vec<Mark>,
    /// What says that it came with its container.
    #[serde(default)]
    pub default: Option<Mark>,
    /// What may protect it.
    #[serde(default)]
    pub protected: Option<Mark>,
    /// The calls that delete it, in order. What the earlier ones cannot find is no failure.
    pub delete: Vec<Step>,
    /// How the last of them ends.
    #[serde(default)]
    pub ends: Ends,
    /// What stays until when, for one that goes by itself later.
    #[serde(default)]
    pub later: Option<String>,
    /// What errors mean that mean something else elsewhere.
    #[serde(default)]
    pub errors: Errors,
    /// Questions that find what is in the way.
    #[serde(default)]
    pub blockers: Vec<BlockedBy>,
    /// How long it may take to go, in seconds.
    #[serde(default = "budget")]
    pub budget: u64,
    /// Seconds between two looks at one that is on its way out.
    #[serde(default = "poll")]
    pub poll: u64,
    /// How many may be deleted at the same time in one region.
    #[serde(default = "at_once")]
    pub at_once: usize,
    /// What its deletion leaves behind.
    #[serde(default)]
    pub leaves: Vec<String>,
}

fn by_tags() -> Vec<Find> {
    vec![Find::Tagging]
}

fn budget() -> u64 {
    300
}

fn poll() -> u64 {
    5
}

fn at_once() -> usize {
    8
}

/// Whether a type belongs to a region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// It does.
    #[default]
    Regional,
    /// A partition has it once.
    Global,
}

/// What finds objects of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Find {
    /// The tagging API.
    Tagging,
    /// The service's own listing, whose items are read for the scope's tags.
    Listing,
    /// Its container's listing; it has no tags that a scan could find it by.
    Inside,
}

/// One value or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        };
        all.iter().map(String::as_str)
    }
}

/// A question or a call: the operation, for REST with method and path, and its input.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ask {
    /// `Operation`, or `Operation METHOD /path`; of a listing, that of the description when left out.
    #[serde(default)]
    pub call: Option<String>,
    /// The parameters or the body.
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
    /// The filter of EC2 that takes ids, in place of an input.
    #[serde(default)]
    pub filter: Option<String>,
    /// How many objects one call takes.
    #[serde(default)]
    pub most: Option<usize>,
    /// The path to the items; empty when the answer is the item.
    #[serde(default)]
    pub at: Option<String>,
    /// Paths in an item to the parts of its identity, by placeholder.
    #[serde(default)]
    pub key: BTreeMap<String, String>,
    /// How the answer continues, where it is not as the service's others.
    #[serde(default)]
    pub page: Option<String>,
    /// Errors that mean that there is nothing to tell, such as no tags.
    #[serde(default)]
    pub none: Vec<String>,
    /// True for a listing whose items say less than those of the description.
    #[serde(default)]
    pub names: bool,
    /// The path to the region of an item, where a listing is not of one region.
    #[serde(default)]
    pub region: Option<String>,
}

/// What an item of a description says, by paths in it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Is {
    /// Its name for people, where the ARN has none.
    #[serde(default)]
    pub name: Option<String>,
    /// Its state.
    #[serde(default)]
    pub state: Option<String>,
    /// States in which its deletion is under way.
    #[serde(default)]
    pub ending: Vec<String>,
    /// States in which it is gone; `*` for any.
    #[serde(default)]
    pub terminal: Vec<String>,
    /// When it was made.
    #[serde(default)]
    pub created: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Option<TagSource>,
}

/// Where tags are read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum TagSource {
    /// In the item.
    At(String),
    /// By a call of their own.
    Asked(Box<Ask>),
}

/// What holds an object, and how the objects in it are listed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Container {
    /// The container's kind.
    pub kind: String,
    /// The path in the item to the container's id, name or ARN.
    #[serde(default)]
    pub at: Option<String>,
    /// The placeholder of the object's own ARN that names the container.
    #[serde(default)]
    pub named: Option<String>,
    /// How what one container holds is listed; its placeholders are the container's.
    #[serde(default)]
    pub list: Option<Ask>,
}

/// Who else than a person may have made an object, or what protects it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The path that tells.
    pub at: String,
    /// The values that say so; without any, `true`.
    #[serde(default)]
    pub is: Vec<String>,
    /// How the value may begin that says so.
    #[serde(default)]
    pub starts: Option<String>,
    /// Who made it, or what protects it, in words.
    #[serde(default)]
    pub what: String,
    /// The path to who made it.
    #[serde(default)]
    pub who: Option<String>,
}

/// What errors mean, by `Code`, or `Code: words of the message`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// There is no such thing.
    #[serde(default)]
    pub gone: Vec<String>,
    /// Try again.
    #[serde(default)]
    pub retry: Vec<String>,
    /// Its deletion is under way.
    #[serde(default)]
    pub wait: Vec<String>,
    /// Something protects it.
    #[serde(default)]
    pub protected: Vec<String>,
    /// It will never work.
    #[serde(default)]
    pub permanent: Vec<String>,
}

/// A question that finds what is in the way of one object.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockedBy {
    /// The kind of what may be in the way; its description's call is asked.
    pub kind: String,
    /// The filter of EC2 that takes the object's id.
    pub filter: String,
}
