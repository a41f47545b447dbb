//! Which process another one comes from, and what it has opened.

use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;
use nix::unistd::{Pid, getpgid};
use sysinfo::{Process, ProcessRefreshKind};

use super::{ProcessFacts, ProcessId, look_up, scan};

/// No chain of parents is longer; one that has a loop, since pids are used again, ends here.
const DEEPEST: usize = 64;

/// True for a process itself, for a member of the group that it leads, and for what it has started, as
/// long as no process on the way has ended.
pub fn comes_from(pid: u32, ancestor: u32) -> bool {
    let kind = ProcessRefreshKind::nothing().without_tasks();
    let parent = |pid: &u32| {
        let read = |process: &Process| process.parent().map(sysinfo::Pid::as_u32);
        look_up(*pid, kind, read).flatten()
    };
    let mut line = std::iter::successors(Some(pid), parent).take(DEEPEST);
    line.any(|one| one == ancestor) || group(pid) == Some(ancestor)
}

/// A process, the members of its group and all that it has started, as far as this user may see them and
/// no process on the way has ended.
pub fn family(ancestor: u32) -> Vec<ProcessFacts> {
    let mut all = scan();
    all.retain(|facts| !facts.zombie);
    let parents: std::collections::HashMap<u32, u32> = all
        .iter()
        .filter_map(|facts| Some((facts.id.pid, facts.parent?)))
        .collect();
    let comes_from = |pid: u32| {
        let mut line = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
        line.by_ref().take(DEEPEST).any(|one| one == ancestor) || group(pid) == Some(ancestor)
    };
    all.retain(|facts| comes_from(facts.id.pid));
    all
}

/// The processes that were started with a variable of this value, by whatever way they came.
pub fn marked(name: &str, value: &str) -> Vec<ProcessId> {
    let carries = |facts: &ProcessFacts| !facts.zombie && facts.var(name) == Some(value);
    scan()
        .into_iter()
        .filter(carries)
        .map(|facts| facts.id)
        .collect()
}

/// True when a process has a file open, whatever name it opened it by. False where the system does not tell.
pub fn has_open(pid: u32, path: &Utf8Path) -> bool {
    let Ok(wanted) = std::fs::metadata(path) else {
        return false;
    };
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let same =
        |facts: std::fs::Metadata| (facts.dev(), facts.ino()) == (wanted.dev(), wanted.ino());
    open.flatten()
        .any(|entry| std::fs::metadata(entry.path()).is_ok_and(same))
}

fn group(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?);
    u32::try_from(getpgid(Some(pid)).ok()?.as_raw()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_come_from_their_parents_and_not_the_other_way() {
        let own = std::process::id();
        let parent = std::os::unix::process::parent_id();
        assert!(comes_from(own, own) && comes_from(own, parent));
        assert!(!comes_from(parent, own));
        assert!(!comes_from(u32::MAX, own), "there is none");
    }

    #[test]
    fn a_family_has_its_members_and_nobody_above() {
        let own = std::process::id();
        let pids: Vec<u32> = family(own).iter().map(|facts| facts.id.pid).collect();
        assert!(pids.contains(&own));
        assert!(!pids.contains(&std::os::unix::process::parent_id()));
        assert!(family(u32::MAX).is_empty(), "there is none");
    }

    #[test]
    fn an_open_file_is_known_by_any_of_its_names() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = tempfile::NamedTempFile::new_in(&dir).expect("a file");
        let one = Utf8Path::from_path(file.path()).expect("utf-8").to_owned();
        let other = one.with_file_name("other");
        std::os::unix::fs::symlink(&one, &other).expect("a link");
        let own = std::process::id();
        assert!(has_open(own, &one) && has_open(own, &other));
        let closed = file.into_temp_path();
        assert!(!has_open(own, &one));
        drop(closed);
        assert!(!has_open(own, &one), "there is none");
    }
}
