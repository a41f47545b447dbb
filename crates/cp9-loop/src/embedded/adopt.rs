//! What a killed controller leaves behind: processes that go on serving are adopted, builds in
//! flight and processes that the plan no longer names are ended.

use std::time::Duration;

use cp9_model::devplan::{DevPlan, Resource, ResourceKind};
use cp9_model::scope::ENV_ID;
use cp9_tools::procs::{ProcessFacts, find, own_pid, scan};
use cp9_tools::{Doors, ProcessId};

use super::child::{ChildRecord, stop_process};
use super::plan::concrete;
use super::session::Session;

/// How long a build of a dead controller may take to clean up.
const BUILD_GRACE: Duration = Duration::from_secs(1);

/// How long a process that nobody recorded may take to end.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// A process that goes on.
#[derive(Debug)]
pub(super) struct Survivor {
    /// Its resource.
    pub(super) resource: String,
    /// What is recorded of it.
    pub(super) record: ChildRecord,
}

/// Ends what nobody wants any more and returns what serves on.
pub(super) async fn survivors(session: &Session, plan: &DevPlan) -> Vec<Survivor> {
    let mut found = Vec::new();
    let Ok(entries) = session.paths.folder.join("run").read_dir_utf8() else {
        return found;
    };
    for entry in entries.flatten() {
        end_builds(session, entry.path()).await;
        let path = entry.path().join("child.json");
        let Some(record) = ChildRecord::read(&session.doors, &path) else {
            continue;
        };
        if !is_ours(session, record.id) {
            forget(&session.doors, &path);
            continue;
        }
        let served = plan.resources.iter().find(|resource| {
            resource.kind == ResourceKind::Serve && resource.service == entry.file_name()
        });
        if let Some(resource) = served.filter(|resource| resource.name == record.resource) {
            let resource = resource.name.clone();
            found.push(Survivor { resource, record });
            continue;
        }
        let grace = Duration::from_secs(u64::from(record.grace_seconds));
        stop_process(record.id, grace).await;
        forget(&session.doors, &path);
    }
    // Only a killed controller leaves its socket behind.
    if session.doors.exists(&session.paths.socket) {
        end_unrecorded(session, plan, &found).await;
    }
    found
}

/// Ends processes that a controller started just before it was killed, without the time to record
/// them: they have this session's id, and folder and environment of a resource that none serves.
async fn end_unrecorded(session: &Session, plan: &DevPlan, found: &[Survivor]) {
    let unserved: Vec<Resource> = plan
        .resources
        .iter()
        .filter(|resource| resource.kind == ResourceKind::Serve)
        .filter(|resource| {
            !found
                .iter()
                .any(|survivor| survivor.resource == resource.name)
        })
        .map(|resource| concrete(plan, resource))
        .collect();
    if unserved.is_empty() {
        return;
    }
    for facts in scan() {
        let ours = !facts.zombie && facts.var(ENV_ID) == Some(&session.scope.id);
        if ours
            && facts.id.pid != own_pid()
            && unserved.iter().any(|resource| serves(&facts, resource))
        {
            stop_process(facts.id, ORPHAN_GRACE).await;
        }
    }
}

fn serves(facts: &ProcessFacts, resource: &Resource) -> bool {
    let mut env = resource.env.iter();
    facts
        .cwd
        .as_ref()
        .is_some_and(|cwd| cwd.as_str() == resource.cwd)
        && env.all(|(name, value)| facts.var(name) == Some(value))
}

/// True for a live process of this very session.
fn is_ours(session: &Session, id: ProcessId) -> bool {
    let ours = |facts: &ProcessFacts| {
        !facts.zombie && facts.id.is_same(id) && facts.var(ENV_ID) == Some(&session.scope.id)
    };
    find(id.pid).as_ref().is_some_and(ours)
}

async fn end_builds(session: &Session, dir: &camino::Utf8Path) {
    let Ok(entries) = dir.read_dir_utf8() else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !(name.starts_with("build-") && entry.path().extension() == Some("json")) {
            continue;
        }
        let id = session
            .doors
            .read(entry.path())
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(id) = id.filter(|id| is_ours(session, *id)) {
            stop_process(id, BUILD_GRACE).await;
        }
        forget(&session.doors, entry.path());
    }
}

fn forget(doors: &Doors, path: &camino::Utf8Path) {
    // A record that stays names a dead process, which every reader checks.
    let _ = doors.remove_file(path);
}
