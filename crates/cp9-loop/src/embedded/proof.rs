//! Which generation of a service runs, measured: by reading everything anew for a deploy, or by
//! what the controller sees and the stamps of files for a status, which must be quick.

use std::io::Read;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::control::{ControllerStatus, ResourceStatus};
use cp9_model::devplan::{DevPlan, Resource, ResourceKind};
use cp9_model::generation::{Generation, Measured};
use cp9_tools::{Doors, procs};

use super::generation::{self, Stamp, copy_path};
use super::item::origin;
use super::plan::{concrete, launch_digest};
use super::runs::family_runs;
use super::sources::{WatchSet, source_digest};

/// The generations of a service, every file read anew and nothing taken from a record but what the
/// last build says of itself. `None` if the plan runs no such service, or the controller not yet.
pub fn measure(
    doors: &Doors,
    plan: &DevPlan,
    service: &str,
    now: &ControllerStatus,
) -> Option<Generation> {
    let doors = &doors.quiet();
    Look {
        doors,
        plan,
        anew: true,
    }
    .at(service, now)
}

/// The same at a glance: sources as the controller sees them, and files read only when their
/// inode, size or time are not those that the last build recorded.
pub fn glance(
    doors: &Doors,
    plan: &DevPlan,
    service: &str,
    now: &ControllerStatus,
) -> Option<Generation> {
    let doors = &doors.quiet();
    Look {
        doors,
        plan,
        anew: false,
    }
    .at(service, now)
}

struct Look<'a> {
    doors: &'a Doors,
    plan: &'a DevPlan,
    anew: bool,
}

impl Look<'_> {
    fn at(&self, service: &str, now: &ControllerStatus) -> Option<Generation> {
        let (serve, process) = self.find(service, ResourceKind::Serve, now)?;
        let Some((build, made)) = self.find(service, ResourceKind::Build, now) else {
            return Some(self.unbuilt(serve, process));
        };
        let path = self.plan.expand(build.binary.as_ref()?);
        let record = generation::read(self.doors, &path);
        let binary = self.hash(Utf8Path::new(&path), |stamp| {
            let record = record.as_ref()?;
            (record.stamps.product == Some(stamp)).then(|| record.binary.clone())
        });
        let lineage = made.lineage.as_ref();
        let source = if self.anew {
            Some(source_digest(self.doors, self.plan, build))
        } else {
            lineage.and_then(|lineage| lineage.disk.clone())
        };
        let running = if serve.binary.is_some() {
            self.executed(&path, process, record.as_ref())
        } else {
            self.wrapped(serve, process, &path, binary.as_ref())
        };
        Some(Generation::built(Measured {
            source,
            built_from: lineage.and_then(|lineage| lineage.made_from.clone()),
            built: made.binary.clone(),
            first_from: record
                .as_ref()
                .and_then(|record| record.first_from(made.binary.as_ref())),
            unreplaced: lineage.is_some_and(|lineage| lineage.unreplaced),
            binary,
            running,
        }))
    }

    fn find<'a>(
        &'a self,
        service: &str,
        kind: ResourceKind,
        now: &'a ControllerStatus,
    ) -> Option<(&'a Resource, &'a ResourceStatus)> {
        let mut planned = self.plan.resources.iter();
        let planned =
            planned.find(|resource| resource.service == service && resource.kind == kind)?;
        let mut known = now.resources.iter();
        known
            .find(|status| status.name == planned.name)
            .map(|status| (planned, status))
    }

    /// The hash of a file; by its stamp if that is known and a glance will do.
    fn hash(&self, path: &Utf8Path, known: impl Fn(Stamp) -> Option<String>) -> Option<String> {
        let glance = || known(Stamp::of(path)?);
        if !self.anew
            && let Some(hash) = glance()
        {
            return Some(hash);
        }
        self.doors.digest(path).ok()
    }

    /// The hash of what a process executes: of the very file, even if its name is gone by now. A
    /// script is executed by its interpreter, so there the copy counts that it was started from.
    fn executed(
        &self,
        binary: &str,
        process: &ResourceStatus,
        record: Option<&generation::Generation>,
    ) -> Option<String> {
        let pid = process.pid?;
        let copy = copy_path(binary, process.binary.as_ref()?);
        let by_copy = |stamp: Stamp| {
            let record = record?;
            (record.stamps.copy == Some(stamp)).then(|| record.binary.clone())
        };
        if is_script(&copy) {
            return is_alive(pid).then(|| self.hash(&copy, by_copy)).flatten();
        }
        self.hash(&executable(pid)?, by_copy)
    }

    /// A process that gets the binary by its name runs it if it was started after the binary came, and
    /// something of its family really does. Else what runs is what it executes itself.
    fn wrapped(
        &self,
        serve: &Resource,
        process: &ResourceStatus,
        path: &str,
        binary: Option<&String>,
    ) -> Option<String> {
        let (now, started) = self.origins(serve, process);
        if started.is_none() || now != started {
            return started;
        }
        let (pid, binary) = (process.pid?, binary?);
        if family_runs(self.doors, pid, path.into(), binary) {
            return Some(binary.clone());
        }
        self.hash(&executable(pid)?, |_| None)
    }

    fn unbuilt(&self, serve: &Resource, process: &ResourceStatus) -> Generation {
        let (now, started) = self.origins(serve, process);
        Generation::unbuilt(now, started)
    }

    /// What a process without a binary of its own would be started from now, and what it was.
    fn origins(
        &self,
        serve: &Resource,
        process: &ResourceStatus,
    ) -> (Option<String>, Option<String>) {
        let lineage = process.lineage.as_ref();
        let alive = process.pid.is_some_and(is_alive);
        let started = lineage
            .and_then(|lineage| lineage.made_from.clone())
            .filter(|_| alive);
        if !self.anew {
            return (lineage.and_then(|lineage| lineage.disk.clone()), started);
        }
        let unwatched = WatchSet::of(self.plan, serve).is_empty();
        let watched = (!unwatched).then(|| source_digest(self.doors, self.plan, serve));
        let launch = launch_digest(self.doors, &concrete(self.plan, serve));
        (Some(origin(&launch, watched.as_ref())), started)
    }
}

/// The file that a process executes.
fn executable(pid: u32) -> Option<Utf8PathBuf> {
    // Leads to the file itself, where the system has such a link.
    let link = Utf8PathBuf::from(format!("/proc/{pid}/exe"));
    if std::fs::metadata(&link).is_ok() {
        return Some(link);
    }
    procs::find(pid).filter(|facts| !facts.zombie)?.exe
}

fn is_alive(pid: u32) -> bool {
    procs::find(pid).is_some_and(|facts| !facts.zombie)
}

fn is_script(path: &Utf8Path) -> bool {
    let mut start = [0; 2];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"#!"
}
