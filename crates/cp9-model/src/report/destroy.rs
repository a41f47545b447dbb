//! What `destroy` did, would do and could not do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reaper::Key;

/// The result of `destroy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DestroyReport {
    /// The session's name.
    pub session: String,
    /// True when the session was already gone.
    pub already: bool,
    /// The stages in order.
    pub stages: Vec<StageReport>,
    /// What would be done, under `--dry-run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReport>,
    /// What is gone as far as anybody can take it away, and stays for a while: keys, secrets in recovery.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
    /// Regions that are closed to reading and making alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<String>,
    /// What is still there.
    pub survivors: Vec<Survivor>,
    /// The small record that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// One stage of a destroy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageReport {
    /// Its name: `controller`, `host`, `substrate`, `reaper`, `post-scan`, `folder`.
    pub name: String,
    /// Things deleted.
    pub deleted: u32,
    /// Things that survived.
    pub survived: u32,
    /// What failed; never fatal for the later stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it had nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// What a destroy would do in a cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    /// What it would delete, in its order.
    pub deletes: Vec<PlanStep>,
    /// What would go along with what holds it, without being touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Key>,
    /// What would stay.
    pub survivors: Vec<Survivor>,
}

/// One object that would be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// When its turn is: after all that it must wait for.
    pub wave: u32,
    /// Which one.
    #[serde(flatten)]
    pub object: Key,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was made, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Why it is in scope.
    pub because: String,
}

/// Something that a destroy could not remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Survivor {
    /// The cloud, `local` for this machine.
    pub cloud: String,
    /// The region or project; the host name's place for `local`.
    pub region: String,
    /// The type, such as `process` or `port`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The id, such as a pid.
    pub id: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why it is still there; in a cloud one stable word, such as `untagged` or `protected`.
    pub reason: String,
    /// What the word leaves open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The very object that is in the way, whoever it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Key>,
    /// The object of the session that it is inside of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Key>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Survivor {
    /// Something of this machine.
    pub fn local(kind: &str, id: impl Into<String>, reason: String, remedy: String) -> Self {
        Self {
            cloud: "local".into(),
            region: "this machine".into(),
            kind: kind.to_owned(),
            id: id.into(),
            name: None,
            reason,
            detail: None,
            blocker: None,
            inside: None,
            remedy: Some(remedy),
        }
    }
}
