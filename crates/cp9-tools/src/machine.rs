//! What this machine has and allows: memory, disk, open files, watched files. Looks only.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use camino::Utf8Path;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;
use sysinfo::{MemoryRefreshKind, System};

/// Memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// What there is.
    pub total: u64,
    /// What programs can still have without swapping.
    pub available: u64,
}

/// The memory of this machine, or of the container that limits this process to less.
pub fn memory() -> Memory {
    let mut system = System::new();
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let (total, available) = (system.total_memory(), system.available_memory());
    // sysinfo refuses to look for limits beside a total of nothing.
    let limits = (total > 0).then(|| system.cgroup_limits()).flatten();
    limits.map_or(Memory { total, available }, |limits| Memory {
        total: total.min(limits.total_memory),
        // What the container's cache holds is given back when it is needed.
        available: available.min(limits.total_memory.saturating_sub(limits.rss)),
    })
}

/// A file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk {
    /// Bytes that this user can still write.
    pub free: u64,
    /// Tells one file system from another.
    pub device: u64,
}

/// The file system of a path, or of the nearest folder above it that exists.
pub fn disk(path: &Utf8Path) -> Option<Disk> {
    let there = path.ancestors().find(|path| path.exists())?;
    let facts = statvfs(there.as_std_path()).ok()?;
    Some(Disk {
        free: wide(facts.blocks_available()).saturating_mul(wide(facts.fragment_size())),
        device: fs::metadata(there).ok()?.dev(),
    })
}

/// Counters are 32 bits wide on some systems.
fn wide(count: impl Into<u64>) -> u64 {
    count.into()
}

/// How many files a process of ours may have open.
pub fn open_files() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE)
        .ok()
        .map(|(soft, _)| wide(soft))
}

/// What inotify allows each user, and what this user's processes have of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inotify {
    /// The most files and folders that may be watched.
    pub max_watches: u64,
    /// The most watchers.
    pub max_instances: u64,
    /// Files and folders that are watched.
    pub watches: u64,
    /// Watchers.
    pub instances: u64,
}

/// The state of inotify; none where the system has no such limits.
pub fn inotify() -> Option<Inotify> {
    let limit = |name: &str| {
        let path = format!("/proc/sys/fs/inotify/{name}");
        fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    let mut found = Inotify {
        max_watches: limit("max_user_watches")?,
        max_instances: limit("max_user_instances")?,
        watches: 0,
        instances: 0,
    };
    let me = nix::unistd::geteuid().as_raw();
    for process in entries(Path::new("/proc")) {
        let mine = fs::metadata(&process).is_ok_and(|facts| facts.uid() == me);
        let numbered = process
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        if mine && numbered {
            count(&process, &mut found);
        }
    }
    Some(found)
}

/// Adds what one process watches. A process that ends meanwhile watches nothing.
fn count(process: &Path, found: &mut Inotify) {
    for descriptor in entries(&process.join("fd")) {
        let kind = fs::read_link(&descriptor).unwrap_or_default();
        if kind != Path::new("anon_inode:inotify") {
            continue;
        }
        let number = descriptor.file_name().unwrap_or_default();
        let info = fs::read_to_string(process.join("fdinfo").join(number));
        found.instances += 1;
        found.watches += watches(&info.unwrap_or_default());
    }
}

/// The watches in the text of `/proc/PID/fdinfo/FD`, one line each, see proc(5).
fn watches(info: &str) -> u64 {
    let lines = info.lines().filter(|line| line.starts_with("inotify "));
    lines.count().try_into().unwrap_or(u64::MAX)
}

fn entries(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_memory_and_no_more_is_available_than_that() {
        let memory = memory();
        assert!(memory.total > 0);
        assert!(memory.available <= memory.total, "{memory:?}");
    }

    #[test]
    fn a_path_that_does_not_exist_lies_where_its_parent_does() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = Utf8Path::from_path(dir.path()).expect("UTF-8");
        let there = disk(dir).expect("a file system");
        let below = disk(&dir.join("a/b/c")).expect("the same");
        assert_eq!(there.device, below.device);
        assert_eq!(disk(Utf8Path::new("")), None);
    }

    #[test]
    fn watches_are_counted_by_line() {
        let info = "pos:\t0\nflags:\t02004000\nmnt_id:\t15\nino:\t1058\n\
                    inotify wd:2 ino:5 sdev:1 mask:800afce ignored_mask:0 fhandle-bytes:8\n\
                    inotify wd:1 ino:4 sdev:1 mask:800afce ignored_mask:0 fhandle-bytes:8\n";
        assert_eq!(watches(info), 2);
        assert_eq!(watches(""), 0);
    }

    #[test]
    fn this_process_may_open_files() {
        assert!(open_files().is_some_and(|most| most > 3));
    }
}
