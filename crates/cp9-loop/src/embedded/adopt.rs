//! What a killed controller leaves behind: processes that go on serving are adopted, builds in
//! flight and processes that the plan no longer names are ended.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::devplan::{DevPlan, Resource, ResourceKind};
use cp9_model::scope::ENV_ID;
use cp9_tools::procs::{self, ProcessFacts, find, own_pid, scan};
use cp9_tools::{Doors, ProcessId};
use tokio::task::JoinSet;

use super::build::{ENV_BUILD, OUTPUT_PREFIX};
use super::child::ChildRecord;
use super::plan::{concrete, live_dir};
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

/// What nobody wants any more.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    recorded: Vec<End>,
    /// Only where the controller before was killed.
    orphans: Option<Orphans>,
}

#[derive(Debug)]
struct End {
    id: ProcessId,
    grace: Duration,
    record: Utf8PathBuf,
}

/// Tells what serves on from what must end. Nothing waits here; `killed` says that the controller
/// before was not stopped.
pub(super) fn look(session: &Session, plan: &DevPlan, killed: bool) -> (Vec<Survivor>, Leftovers) {
    let mut survivors = Vec::new();
    let mut leftovers = Leftovers::default();
    let entries = session.paths.folder.join("run").read_dir_utf8();
    for entry in entries.into_iter().flatten().flatten() {
        leftovers.builds(session, entry.path());
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
            survivors.push(Survivor { resource, record });
            continue;
        }
        leftovers.recorded.push(End {
            id: record.id,
            grace: Duration::from_secs(u64::from(record.grace_seconds)),
            record: path,
        });
    }
    leftovers.orphans = killed.then(|| Orphans::new(session, plan, &survivors));
    (survivors, leftovers)
}

impl Leftovers {
    fn builds(&mut self, session: &Session, dir: &Utf8Path) {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !(name.starts_with("build-") && entry.path().extension() == Some("json")) {
                continue;
            }
            let read = session.doors.read(entry.path());
            let id = read
                .ok()
                .and_then(|text| serde_json::from_slice(&text).ok());
            match id.filter(|id| is_ours(session, *id)) {
                Some(id) => self.recorded.push(End {
                    id,
                    grace: BUILD_GRACE,
                    record: entry.path().to_owned(),
                }),
                None => forget(&session.doors, entry.path()),
            }
        }
    }

    /// Ends all of it at once, and removes what unfinished builds have written.
    pub(super) async fn end(self, doors: Doors) {
        let mut ends = JoinSet::new();
        for End { id, grace, record } in self.recorded {
            let doors = doors.clone();
            ends.spawn(async move {
                procs::stop(id, grace).await;
                forget(&doors, &record);
            });
        }
        let Some(orphans) = self.orphans else {
            return ends.join_all().await.clear();
        };
        let outputs = orphans.outputs.clone();
        let found = tokio::task::spawn_blocking(move || orphans.find()).await;
        for id in found.unwrap_or_default() {
            ends.spawn(async move {
                procs::stop(id, ORPHAN_GRACE).await;
            });
        }
        ends.join_all().await;
        let remove = move || remove_outputs(&doors, &outputs);
        // What stays costs only room until the next time.
        let _ = tokio::task::spawn_blocking(remove).await;
    }
}

/// Processes that a controller started just before it was killed, without the time to record them.
#[derive(Debug)]
struct Orphans {
    id: String,
    adopted: Vec<u32>,
    /// The processes of the plan that none serves.
    unserved: Vec<Resource>,
    builds: Vec<Resource>,
    /// The folders that builds write to.
    outputs: Vec<Utf8PathBuf>,
}

impl Orphans {
    fn new(session: &Session, plan: &DevPlan, survivors: &[Survivor]) -> Self {
        let of = |kind| {
            let mut resources = plan.resources.iter().collect::<Vec<_>>();
            resources.retain(|resource| resource.kind == kind);
            resources
                .into_iter()
                .map(|resource| concrete(plan, resource))
        };
        let served = |resource: &Resource| {
            let mut survivors = survivors.iter();
            survivors.any(|survivor| survivor.resource == resource.name)
        };
        let builds: Vec<Resource> = of(ResourceKind::Build).collect();
        let binaries = builds.iter().filter_map(|build| build.binary.as_deref());
        Self {
            id: session.scope.id.clone(),
            adopted: survivors
                .iter()
                .map(|survivor| survivor.record.id.pid)
                .collect(),
            unserved: of(ResourceKind::Serve)
                .filter(|resource| !served(resource))
                .collect(),
            outputs: binaries.map(live_dir).collect(),
            builds,
        }
    }

    fn find(&self) -> Vec<ProcessId> {
        scan()
            .into_iter()
            .filter(|facts| !facts.zombie && facts.id.pid != own_pid())
            .filter(|facts| !self.adopted.contains(&facts.id.pid) && self.is_one(facts))
            .map(|facts| facts.id)
            .collect()
    }

    fn is_one(&self, facts: &ProcessFacts) -> bool {
        let marked = facts.var(ENV_ID) == Some(&self.id);
        let serves = |resource: &Resource| {
            executes(facts, resource) || (marked && has_environment(facts, resource))
        };
        let builds = |build: &Resource| {
            marked && facts.var(ENV_BUILD) == Some(&build.name) && is_in(facts, &build.cwd)
        };
        self.unserved.iter().any(serves) || self.builds.iter().any(builds)
    }
}

/// True for a process in the folder and with the environment of a resource.
fn has_environment(facts: &ProcessFacts, resource: &Resource) -> bool {
    let mut env = resource.env.iter();
    is_in(facts, &resource.cwd) && env.all(|(name, value)| facts.var(name) == Some(value))
}

/// True for a process that executes a copy of a resource's binary, whatever its environment says:
/// programs may write over that.
fn executes(facts: &ProcessFacts, resource: &Resource) -> bool {
    let (Some(exe), Some(binary)) = (&facts.exe, &resource.binary) else {
        return false;
    };
    let copy = exe.file_name().is_some_and(|name| name.starts_with("run-"));
    copy && exe.parent() == Some(&*canonical(&live_dir(binary)))
}

fn is_in(facts: &ProcessFacts, folder: &str) -> bool {
    facts.cwd.as_deref() == Some(&*canonical(Utf8Path::new(folder)))
}

/// The name by which the system knows a folder.
fn canonical(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

/// True for a live process that our own record names: the same pid and start. Its environment
/// speaks against it only if it says that it belongs to another session.
fn is_ours(session: &Session, id: ProcessId) -> bool {
    find(id.pid).is_some_and(|facts| is_recorded(&facts, id, &session.scope.id))
}

fn is_recorded(facts: &ProcessFacts, id: ProcessId, session: &str) -> bool {
    let other = facts.var(ENV_ID).is_some_and(|id| id != session);
    !facts.zombie && facts.id.is_same(id) && !other
}

fn remove_outputs(doors: &Doors, folders: &[Utf8PathBuf]) {
    for folder in folders {
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            if entry.file_name().starts_with(OUTPUT_PREFIX) {
                // What stays costs only room until the next time.
                let _ = doors.remove_tree(entry.path());
            }
        }
    }
}

fn forget(doors: &Doors, path: &Utf8Path) {
    // A record that stays names a dead process, which every reader checks.
    let _ = doors.remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: ProcessId = ProcessId {
        pid: 42,
        start_time: 1_000,
    };

    fn facts(env: &[(&str, &str)]) -> ProcessFacts {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        ProcessFacts {
            id: ID,
            parent: Some(1),
            name: "x".into(),
            exe: None,
            cwd: None,
            cmd: Vec::new(),
            env: env.iter().map(pair).collect(),
            zombie: false,
        }
    }

    #[test]
    fn a_record_is_enough_unless_the_process_says_otherwise() {
        assert!(is_recorded(&facts(&[(ENV_ID, "ours")]), ID, "ours"));
        assert!(is_recorded(&facts(&[]), ID, "ours"), "environ overwritten");
        assert!(!is_recorded(&facts(&[(ENV_ID, "other")]), ID, "ours"));
        let later = ProcessId {
            start_time: 2_000,
            ..ID
        };
        assert!(!is_recorded(&facts(&[(ENV_ID, "ours")]), later, "ours"));
        let mut dead = facts(&[(ENV_ID, "ours")]);
        dead.zombie = true;
        assert!(!is_recorded(&dead, ID, "ours"));
    }

    #[test]
    fn orphans_are_known_by_mark_and_place_or_by_what_they_execute() {
        let dir = tempfile::tempdir().expect("tempdir");
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).expect("utf-8");
        std::os::unix::fs::symlink(&root, root.join("link")).expect("link");
        let resource = |name: &str, kind: &str| -> Resource {
            serde_json::from_value(
                serde_json::json!({"name": name, "service": "api", "kind": kind,
                "trigger": "auto", "cwd": root.join("link"), "env": {"A": "1"},
                "binary": root.join("link/service")}),
            )
            .expect("a resource")
        };
        let orphans = Orphans {
            id: "ours".into(),
            adopted: Vec::new(),
            unserved: vec![resource("api", "serve")],
            builds: vec![resource("api-live-binary", "build")],
            outputs: Vec::new(),
        };
        let here = |env: &[(&str, &str)]| ProcessFacts {
            cwd: Some(canonical(&root)),
            ..facts(env)
        };
        assert!(orphans.is_one(&here(&[(ENV_ID, "ours"), ("A", "1")])));
        assert!(orphans.is_one(&here(&[(ENV_ID, "ours"), (ENV_BUILD, "api-live-binary")])));
        assert!(!orphans.is_one(&here(&[(ENV_ID, "ours")])));
        assert!(!orphans.is_one(&here(&[("A", "1")])));
        assert!(!orphans.is_one(&here(&[(ENV_BUILD, "api-live-binary")])));
        let mut copy = facts(&[]);
        copy.exe = Some(canonical(&root).join("run-0123"));
        assert!(orphans.is_one(&copy));
        copy.exe = Some(canonical(&root).join("other"));
        assert!(!orphans.is_one(&copy));
    }
}
