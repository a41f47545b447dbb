//! Which process another one comes from.

use nix::unistd::{Pid, getpgid};
use sysinfo::{Process, ProcessRefreshKind};

use super::look_up;

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
}
