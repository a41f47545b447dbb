//! Ending a Terraform that an earlier run left at work where its program need not be found: one interrupt,
//! and time to write its state. What it did is taken in by the next run.

use cp9_model::scope::ENV_ID;
use cp9_tools::{ProcessFacts, ProcessId, Signal, procs};
use tokio::task::JoinSet;

use super::call::GRACE;
use super::paths::Paths;
use crate::engine::Engine;
use crate::error::{EngineError, Interrupted};
use crate::folder::Folder;

/// Interrupts what works in a session's copy, and waits until it has ended or its grace is over.
pub(crate) async fn interrupt(
    engine: &Engine,
    folder: &Folder,
    id: &str,
    command: &'static str,
) -> Result<(), EngineError> {
    let mut ends = JoinSet::new();
    for first in first(&at_work(folder, id)) {
        procs::signal_group(first, Signal::Int);
        ends.spawn(procs::wait_gone(first, GRACE));
    }
    let all = async { while ends.join_next().await.is_some() {} };
    tokio::select! {
        () = all => Ok(()),
        () = engine.doors.cancel.cancelled() => Err(Interrupted::error(None, command)),
    }
}

/// Processes of a session that work in its copy.
fn at_work(folder: &Folder, id: &str) -> Vec<ProcessFacts> {
    let source = Paths::of(folder).source();
    let ours = |one: &ProcessFacts| {
        let here = one.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&source));
        !one.zombie && here && one.var(ENV_ID) == Some(id)
    };
    procs::scan().into_iter().filter(ours).collect()
}

/// Those that none of the others started.
fn first(all: &[ProcessFacts]) -> Vec<ProcessId> {
    let started = |one: &&ProcessFacts| {
        let above = all.iter().any(|other| one.parent == Some(other.id.pid));
        !above
    };
    all.iter().filter(started).map(|one| one.id).collect()
}
