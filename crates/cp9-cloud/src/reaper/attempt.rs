//! One try at one object: a fresh look, whose it is, then the delete call. Nothing waits here.

use cp9_model::Scope;
use cp9_model::reaper::{Class, Failure, Found, Key, Life, Look, Ours, Reason, Standing};

use super::estate::{CallError, Deleting, Estate};

/// What a try is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// Delete it.
    Delete,
    /// See whether it is gone, after a delete call that was accepted.
    Confirm,
}

/// How a try ended.
#[derive(Debug)]
pub(super) enum Tried {
    /// It is gone. What stays for a while is named.
    Gone(Option<String>),
    /// The delete call was answered as if it were gone already: a look tells.
    Asked,
    /// It is on its way out.
    Ends,
    /// A delete call was accepted, and it does not show yet.
    Shows,
    /// To be tried again.
    Again(CallError),
    /// There is no use in trying again.
    Failed(Failure),
}

/// Tries once.
pub(super) async fn attempt<E: Estate>(
    estate: &E,
    key: &Key,
    scope: &Scope,
    ours: &Ours,
    aim: Aim,
) -> Tried {
    let found = match estate.look(key).await {
        Ok(Look::Gone | Look::Terminal) => return Tried::Gone(None),
        Ok(Look::Alive(found)) => found,
        Err(error) if error.class == Class::Gone => return Tried::Gone(None),
        Err(error) => return refused(error),
    };
    if let Some(end) = before(&found, scope, aim) {
        return end;
    }
    match estate.delete(&found, ours).await {
        Ok(Deleting::Done) => Tried::Asked,
        Ok(Deleting::Started) => Tried::Ends,
        Ok(Deleting::Later { what }) => Tried::Gone(Some(what)),
        Err(error) => refused(error),
    }
}

/// What the fresh look says against a delete call.
fn before(found: &Found, scope: &Scope, aim: Aim) -> Option<Tried> {
    let failed = |reason: Reason| Some(Tried::Failed(reason.into()));
    match found.standing(scope) {
        Standing::Ours => {}
        Standing::Unreadable => return failed(Reason::UnreadableTags),
        Standing::Others | Standing::Untagged => return failed(Reason::TagsChanged),
    }
    match (found.life, &found.protection, aim) {
        (Life::Terminal, _, _) => Some(Tried::Gone(None)),
        (Life::Ending, _, _) => Some(Tried::Ends),
        (Life::Alive, Some(by), _) => failed(Reason::Protected(by.clone())),
        (Life::Alive, None, Aim::Confirm) => Some(Tried::Shows),
        (Life::Alive, None, Aim::Delete) => None,
    }
}

fn refused(error: CallError) -> Tried {
    let reason = match error.class {
        // Gone says the delete call; it may mean one of the steps before it.
        Class::Gone => return Tried::Asked,
        Class::Wait => return Tried::Ends,
        Class::Retry | Class::Throttled => return Tried::Again(error),
        Class::Protected => Reason::Protected(said(&error)),
        Class::Denied => Reason::Denied(error.operation.clone()),
        Class::Permanent => Reason::Refused(said(&error)),
    };
    Tried::Failed(Failure {
        reason,
        blocker: error.blocker.map(|key| *key),
    })
}

/// An error in a few words.
pub(super) fn said(error: &CallError) -> String {
    match (error.code.as_str(), error.message.as_str()) {
        ("", message) => message.to_owned(),
        (code, "") => code.to_owned(),
        (code, message) => format!("{code}: {message}"),
    }
}
