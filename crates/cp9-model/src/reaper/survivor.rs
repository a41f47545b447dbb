//! Why an object is not deleted, and what a person can do about it.

use serde::{Deserialize, Serialize};

use super::found::Found;
use super::key::Key;
use super::scan::{Unverified, Why};
use crate::report;
use crate::scope::{Scope, TAG_OWNER, TAG_SESSION};

/// Why an object is still there, or cannot be said to be gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "reason", content = "detail")]
pub enum Reason {
    /// It carries no tags of the scope, though the session knows it or holds it.
    Untagged,
    /// The session knows it, and it carries another scope's tags.
    OtherScope,
    /// Its tags could not be read.
    UnreadableTags,
    /// Something protects it: what.
    Protected(String),
    /// It is part of something that is protected.
    ProtectedContainer,
    /// It is in a region that the session does not name.
    UndeclaredRegion,
    /// Nothing is known about its type.
    UnknownType(String),
    /// Something that is not deleted uses it or is inside of it.
    Dependency,
    /// A permission is missing: which.
    Denied(String),
    /// The cloud refuses to delete it: its words.
    Refused(String),
    /// It did not go within its time: what it waited for.
    Timeout(String),
    /// It carries the scope's tags no more since it was found.
    TagsChanged,
    /// It is made again each time that it is deleted.
    ComesBack,
    /// The session claims it; it was neither found nor seen to be gone: what came instead.
    Unconfirmed(String),
    /// Nobody could look.
    Unverified(String),
    /// Its turn has not come yet.
    Pending,
}

impl Reason {
    /// The stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Untagged => "untagged",
            Self::OtherScope => "other-scope",
            Self::UnreadableTags => "unreadable-tags",
            Self::Protected(_) => "protected",
            Self::ProtectedContainer => "protected-container",
            Self::UndeclaredRegion => "undeclared-region",
            Self::UnknownType(_) => "unknown-type",
            Self::Dependency => "dependency",
            Self::Denied(_) => "denied",
            Self::Refused(_) => "refused",
            Self::Timeout(_) => "timeout",
            Self::TagsChanged => "tags-changed",
            Self::ComesBack => "comes-back",
            Self::Unconfirmed(_) => "unconfirmed",
            Self::Unverified(_) => "unverified",
            Self::Pending => "pending",
        }
    }

    /// What the word leaves open.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Protected(text)
            | Self::UnknownType(text)
            | Self::Denied(text)
            | Self::Refused(text)
            | Self::Timeout(text)
            | Self::Unconfirmed(text)
            | Self::Unverified(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }
}

/// Why an object could not be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub reason: Reason,
    /// What is in the way, where that is known.
    pub blocker: Option<Key>,
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        let blocker = None;
        Self { reason, blocker }
    }
}

/// An object that is not deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// Which one.
    pub key: Key,
    /// Its name for people.
    pub name: Option<String>,
    /// Why.
    pub reason: Reason,
    /// The very object that is in the way, tagged or not.
    pub blocker: Option<Key>,
    /// The object of the scope that it is inside of.
    pub inside: Option<Key>,
}

impl Survivor {
    /// A survivor with nothing in its way.
    pub fn new(found: &Found, reason: Reason) -> Self {
        Self {
            name: found.name.clone(),
            ..Self::of(found.key.clone(), reason)
        }
    }

    /// A survivor of which only the key is known.
    pub fn of(key: Key, reason: Reason) -> Self {
        Self {
            key,
            name: None,
            reason,
            blocker: None,
            inside: None,
        }
    }

    /// What could not be looked at.
    pub fn unverified(what: &Unverified) -> Self {
        let kind = what.kind.as_ref().unwrap_or(&what.service);
        let why = match what.why {
            Why::Denied => "not allowed",
            Why::Throttled => "too many calls",
            Why::TimedOut => "no answer in time",
            Why::Failed => "failed",
        };
        let asked = match &what.permission {
            Some(permission) => format!("{permission}: {why}"),
            None => format!("{}: {why}", what.service),
        };
        let reason = match (what.why, what.message.as_str()) {
            (Why::Failed, said) if !said.is_empty() => format!("{asked}: {said}"),
            _ => asked,
        };
        let key = Key::new(what.region.clone(), kind.clone(), "*");
        Self::of(key, Reason::Unverified(reason))
    }

    /// What a person can do.
    pub fn remedy(&self, scope: &Scope) -> String {
        let (id, again) = (&self.key.id, "run the command again");
        match &self.reason {
            Reason::Untagged | Reason::TagsChanged => format!(
                "if `{id}` is the session's, tag it {TAG_OWNER}={} and {TAG_SESSION}={}, else move or \
                 delete it by hand; then {again}",
                scope.owner, scope.session
            ),
            Reason::OtherScope => format!("ask whose tags `{id}` carries; then {again}"),
            Reason::UnreadableTags => {
                format!("allow the role to read the tags of `{id}`; then {again}")
            }
            Reason::Protected(by) => {
                format!("take away what protects `{id}` ({by}) if it may go; then {again}")
            }
            Reason::Dependency | Reason::ProtectedContainer => match &self.blocker {
                Some(blocker) => format!("see to `{}` first; then {again}", blocker.id),
                None => again.to_owned(),
            },
            Reason::UndeclaredRegion => format!(
                "the session does not name {}: delete `{id}` by hand; then {again}",
                self.key.region
            ),
            Reason::Denied(permission) => format!("allow `{permission}`; then {again}"),
            Reason::Unverified(_) => format!("see that the question is answered; then {again}"),
            Reason::UnknownType(_) | Reason::Refused(_) => {
                format!("delete `{id}` by hand; then {again}")
            }
            Reason::ComesBack => format!("end what makes `{id}` again; then {again}"),
            Reason::Unconfirmed(_) => {
                format!("see whether `{id}` exists, and delete it by hand if it does; then {again}")
            }
            Reason::Timeout(_) | Reason::Pending => again.to_owned(),
        }
    }

    /// True if the next run must look this object up by its id: it was the scope's.
    pub fn is_claim(&self) -> bool {
        let elsewhere = matches!(
            self.reason,
            Reason::Untagged | Reason::UnreadableTags | Reason::OtherScope | Reason::Unverified(_)
        );
        !elsewhere
    }

    /// As a report tells it.
    pub fn report(&self, cloud: &str, scope: &Scope) -> report::Survivor {
        report::Survivor {
            cloud: cloud.to_owned(),
            region: self.key.region.clone(),
            kind: self.key.kind.clone(),
            id: self.key.id.clone(),
            name: self.name.clone(),
            reason: self.reason.word().to_owned(),
            detail: self.reason.detail().map(str::to_owned),
            blocker: self.blocker.clone(),
            inside: self.inside.clone(),
            remedy: Some(self.remedy(scope)),
        }
    }
}
