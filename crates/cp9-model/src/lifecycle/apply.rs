//! The one transition function. No other code changes a state's status.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::explain::{Category, Explain};
use crate::name::Owner;

use super::state::{
    ItemStatus, LastError, SessionState, StateEntry, StateKind, StateName, StateStatus,
};

/// Something that happened to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A run took the lock; what a dead run left running is interrupted.
    Recovered {
        /// When.
        at: Timestamp,
    },
    /// The owner is known.
    Owned {
        /// Who.
        owner: Owner,
    },
    /// A state begins an attempt.
    Started {
        /// Which.
        state: StateName,
        /// When.
        at: Timestamp,
        /// The digest of what it is made from.
        input: String,
        /// 1 for the first attempt of a run.
        attempt: u32,
    },
    /// One item of a per-item state is done or failed.
    Item {
        /// Which state.
        state: StateName,
        /// Which item.
        item: String,
        /// How it ended.
        status: ItemStatus,
    },
    /// A state is done.
    Finished {
        /// Which.
        state: StateName,
        /// When.
        at: Timestamp,
        /// What it wrote or proved.
        evidence: Vec<String>,
    },
    /// A state had nothing to do.
    Skipped {
        /// Which.
        state: StateName,
        /// When.
        at: Timestamp,
        /// Why.
        reason: String,
    },
    /// A state failed.
    Failed {
        /// Which.
        state: StateName,
        /// When.
        at: Timestamp,
        /// Why.
        error: LastError,
    },
    /// A state was stopped by a signal.
    Interrupted {
        /// Which.
        state: StateName,
        /// When.
        at: Timestamp,
    },
    /// A settled state no longer holds and begins anew. The states after it decide by their own
    /// inputs whether they still hold.
    Invalidated {
        /// Which.
        state: StateName,
    },
    /// The controller and the host were stopped on purpose.
    Paused,
}

/// An event that the journal's present state does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("state `{state}` is {status} and cannot take the event `{event}`", status = .status.word())]
pub struct IllegalEvent {
    /// The state.
    pub state: StateName,
    /// Where it stands.
    pub status: StateStatus,
    /// The event's word.
    pub event: &'static str,
}

impl Explain for IllegalEvent {
    fn category(&self) -> Category {
        Category::Permanent
    }
    fn code(&self) -> &'static str {
        "illegal-event"
    }
}

/// Takes an event into the journal, or says why it cannot have happened.
pub fn apply(mut session: SessionState, event: Event) -> Result<SessionState, IllegalEvent> {
    match event {
        Event::Recovered { at } => Ok(recovered(session, at)),
        Event::Owned { owner } => {
            session.owner = Some(owner);
            Ok(session)
        }
        Event::Started {
            state,
            at,
            input,
            attempt,
        } => started(session, state, at, input, attempt),
        Event::Item {
            state,
            item,
            status,
        } => progressed(session, state, item, status),
        Event::Finished {
            state,
            at,
            evidence,
        } => {
            let entry = running(&mut session, state, "finished")?;
            settle(entry, StateStatus::Done, at);
            entry.evidence = evidence;
            Ok(session)
        }
        Event::Skipped { state, at, reason } => {
            let entry = running(&mut session, state, "skipped")?;
            settle(entry, StateStatus::Skipped, at);
            entry.reason = Some(reason);
            Ok(session)
        }
        Event::Failed { state, at, error } => failed(session, state, at, error),
        Event::Interrupted { state, at } => {
            let entry = running(&mut session, state, "interrupted")?;
            settle(entry, StateStatus::Interrupted, at);
            Ok(session)
        }
        Event::Invalidated { state } => invalidated(session, state),
        Event::Paused => paused(session),
    }
}

/// What a dead run left running did not end.
fn recovered(mut session: SessionState, at: Timestamp) -> SessionState {
    let left = session
        .states
        .values_mut()
        .filter(|entry| entry.status == StateStatus::Running);
    for entry in left {
        settle(entry, StateStatus::Interrupted, at);
    }
    session
}

fn progressed(
    mut session: SessionState,
    state: StateName,
    item: String,
    status: ItemStatus,
) -> Result<SessionState, IllegalEvent> {
    let entry = running(&mut session, state, "item")?;
    if state.kind() != StateKind::PerItem {
        return Err(illegal(state, entry.status, "item"));
    }
    entry.items.insert(item, status);
    Ok(session)
}

/// A failure after some items were done is partial.
fn failed(
    mut session: SessionState,
    state: StateName,
    at: Timestamp,
    error: LastError,
) -> Result<SessionState, IllegalEvent> {
    let entry = running(&mut session, state, "failed")?;
    let partial = entry.items.values().any(|item| *item == ItemStatus::Done);
    settle(
        entry,
        if partial {
            StateStatus::Partial
        } else {
            StateStatus::Failed
        },
        at,
    );
    entry.error = Some(error);
    Ok(session)
}

fn illegal(state: StateName, status: StateStatus, event: &'static str) -> IllegalEvent {
    IllegalEvent {
        state,
        status,
        event,
    }
}

fn running<'a>(
    session: &'a mut SessionState,
    state: StateName,
    event: &'static str,
) -> Result<&'a mut StateEntry, IllegalEvent> {
    match session.states.get_mut(&state) {
        Some(entry) if entry.status == StateStatus::Running => Ok(entry),
        Some(entry) => Err(illegal(state, entry.status, event)),
        None => Err(illegal(state, StateStatus::Pending, event)),
    }
}

fn settle(entry: &mut StateEntry, status: StateStatus, at: Timestamp) {
    entry.status = status;
    entry.finished = Some(at);
}

/// A state may start when every state before it has settled and none runs. Progress made from another
/// input is forgotten.
fn started(
    mut session: SessionState,
    state: StateName,
    at: Timestamp,
    input: String,
    attempt: u32,
) -> Result<SessionState, IllegalEvent> {
    let Some(index) = session.states.get_index_of(&state) else {
        return Err(illegal(state, StateStatus::Pending, "started"));
    };
    let before = session
        .states
        .values()
        .take(index)
        .all(|entry| entry.status.is_settled());
    let busy = session
        .states
        .values()
        .any(|entry| entry.status == StateStatus::Running);
    let entry = &session.states[index];
    let follows = attempt == 1 || (attempt == entry.attempts + 1 && !entry.status.is_settled());
    if !before || busy || !follows || attempt == 0 || entry.status.is_settled() {
        return Err(illegal(state, entry.status, "started"));
    }
    let keeps_items = entry.input.as_deref() == Some(input.as_str());
    let items = if keeps_items {
        entry.items.clone()
    } else {
        std::collections::BTreeMap::new()
    };
    let fresh = StateEntry {
        status: StateStatus::Running,
        attempts: attempt,
        input: Some(input),
        started: Some(at),
        items,
        ..StateEntry::default()
    };
    session.states[index] = fresh;
    session.paused = false;
    Ok(session)
}

fn invalidated(mut session: SessionState, state: StateName) -> Result<SessionState, IllegalEvent> {
    let Some(index) = session.states.get_index_of(&state) else {
        return Err(illegal(state, StateStatus::Pending, "invalidated"));
    };
    let status = session.states[index].status;
    if !status.is_settled() {
        return Err(illegal(state, status, "invalidated"));
    }
    session.states[index].status = StateStatus::Pending;
    Ok(session)
}

/// A session is paused between runs, never inside one.
fn paused(mut session: SessionState) -> Result<SessionState, IllegalEvent> {
    if let Some((state, entry)) = session
        .states
        .iter()
        .find(|(_, entry)| entry.status == StateStatus::Running)
    {
        return Err(illegal(*state, entry.status, "paused"));
    }
    session.paused = true;
    let states = session.states.iter_mut();
    let ended = states.filter(|(state, entry)| {
        matches!(state, StateName::TiltReady | StateName::SessionReady) && entry.status.is_settled()
    });
    for (_, entry) in ended {
        entry.status = StateStatus::Pending;
    }
    Ok(session)
}
