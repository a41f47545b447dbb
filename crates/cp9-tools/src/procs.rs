//! The processes and ports of this machine.

mod family;
mod hangup;
mod ports;
#[cfg(test)]
pub(crate) mod tests;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use nix::errno::Errno;
use nix::sys::signal::{self, kill, killpg};
use nix::unistd::{Pid, getpgid};
use serde::{Deserialize, Serialize};
use sysinfo::{Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

pub use family::{comes_from, family, has_open, marked};
pub use hangup::ignores_hangup;
pub use ports::{becomes_free, is_port_free, listeners};

/// Seconds by which two readings of one start time may differ: it is computed from the time of the
/// boot, which moves a little when the clock is adjusted.
const START_TIME_SLACK: u64 = 2;
/// How long a killed process may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(3);
/// The first pause between two looks at a process that is being stopped, since most end at once;
/// each further one is twice as long, up to the last.
const LOOK_FIRST: Duration = Duration::from_millis(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A process, told apart from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The pid.
    pub pid: u32,
    /// When it started, in seconds since 1970.
    pub start_time: u64,
}

impl ProcessId {
    /// True when both name the same process.
    pub fn is_same(self, other: Self) -> bool {
        self.pid == other.pid && self.start_time.abs_diff(other.start_time) <= START_TIME_SLACK
    }
}

/// What is known about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Which process.
    pub id: ProcessId,
    /// The pid of its parent.
    pub parent: Option<u32>,
    /// Its short name.
    pub name: String,
    /// Its executable, where it may be read.
    pub exe: Option<Utf8PathBuf>,
    /// Its working directory, where it may be read.
    pub cwd: Option<Utf8PathBuf>,
    /// Its arguments.
    pub cmd: Vec<String>,
    /// Its environment as it was at exec, where it may be read.
    pub env: Vec<(String, String)>,
    /// True when it has ended and waits for its parent to notice.
    pub zombie: bool,
}

impl ProcessFacts {
    /// The value of a variable of its environment.
    pub fn var(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What is sent to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Please end.
    Term,
    /// Interrupted by a person.
    Int,
    /// End now.
    Kill,
}

impl From<Signal> for signal::Signal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Term => Self::SIGTERM,
            Signal::Int => Self::SIGINT,
            Signal::Kill => Self::SIGKILL,
        }
    }
}

/// Every process of this user, with environment and paths; of every user for root, whose services may
/// have become someone else.
pub fn scan() -> Vec<ProcessFacts> {
    let me = nix::unistd::geteuid().as_raw();
    let owners = ProcessRefreshKind::nothing().with_user(UpdateKind::Always);
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, owners.without_tasks());
    let mine: Vec<sysinfo::Pid> = system
        .processes()
        .values()
        .filter(|process| me == 0 || process.effective_user_id().is_some_and(|user| **user == me))
        .map(Process::pid)
        .collect();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&mine), true, all_facts());
    let mine = mine.iter().filter_map(|pid| system.process(*pid));
    mine.map(facts).collect()
}

/// One process.
pub fn find(pid: u32) -> Option<ProcessFacts> {
    look_up(pid, all_facts(), facts)
}

/// True while the process runs; one that only waits for its parent to notice its end does not.
pub fn is_alive(id: ProcessId) -> bool {
    let look = |process: &Process| !is_zombie(process) && id.is_same(id_of(process));
    look_up(id.pid, ProcessRefreshKind::nothing().without_tasks(), look).unwrap_or(false)
}

/// True while a process is halted by a signal, or by a debugger: it answers nothing.
pub fn is_halted(pid: u32) -> bool {
    let halted = |process: &Process| {
        matches!(
            process.status(),
            ProcessStatus::Stop | ProcessStatus::Tracing
        )
    };
    look_up(pid, ProcessRefreshKind::nothing().without_tasks(), halted).unwrap_or(false)
}

/// The identity of a process that may just have ended.
pub(crate) fn identify(pid: u32) -> Option<ProcessId> {
    look_up(pid, ProcessRefreshKind::nothing().without_tasks(), id_of)
}

fn all_facts() -> ProcessRefreshKind {
    ProcessRefreshKind::nothing()
        .without_tasks()
        .with_user(UpdateKind::Always)
        .with_cmd(UpdateKind::Always)
        .with_environ(UpdateKind::Always)
        .with_cwd(UpdateKind::Always)
        .with_exe(UpdateKind::Always)
}

fn look_up<T>(pid: u32, kind: ProcessRefreshKind, read: impl FnOnce(&Process) -> T) -> Option<T> {
    let pid = sysinfo::Pid::from_u32(pid);
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, kind);
    system.process(pid).map(read)
}

fn id_of(process: &Process) -> ProcessId {
    ProcessId {
        pid: process.pid().as_u32(),
        start_time: process.start_time(),
    }
}

fn is_zombie(process: &Process) -> bool {
    matches!(
        process.status(),
        ProcessStatus::Zombie | ProcessStatus::Dead
    )
}

fn facts(process: &Process) -> ProcessFacts {
    let path = |path: Option<&std::path::Path>| {
        path.map(|path| Utf8PathBuf::from(path.to_string_lossy().into_owned()))
    };
    ProcessFacts {
        id: id_of(process),
        parent: process.parent().map(sysinfo::Pid::as_u32),
        name: process.name().to_string_lossy().into_owned(),
        exe: path(process.exe()),
        cwd: path(process.cwd()),
        cmd: process.cmd().iter().map(lossy).collect(),
        env: process.environ().iter().filter_map(variable).collect(),
        zombie: is_zombie(process),
    }
}

fn lossy(text: &OsString) -> String {
    text.to_string_lossy().into_owned()
}

fn variable(entry: &OsString) -> Option<(String, String)> {
    let entry = entry.to_string_lossy();
    let (name, value) = entry.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}

/// Signals the process group that this process leads, or the process alone if it leads none.
/// False when there is nothing left to signal, or it may not be signalled.
pub fn signal_group(id: ProcessId, signal: Signal) -> bool {
    let Some(pid) = signallable(id.pid) else {
        return false;
    };
    // A number stays taken while a group of that number has members: if another process holds it
    // now, the group is gone.
    let current = identify(id.pid);
    if current.is_some_and(|current| !current.is_same(id)) {
        return false;
    }
    let leads = current.is_none() || getpgid(Some(pid)) == Ok(pid);
    let reach = |signal: signal::Signal| {
        if leads {
            killpg(pid, signal)
        } else {
            kill(pid, signal)
        }
    };
    let sent = reach(signal.into());
    if signal == Signal::Term {
        // One that was halted hears nothing before it goes on.
        let _ = reach(signal::Signal::SIGCONT);
    }
    sent.is_ok()
}

/// Refuses what would reach init, everything, or ourselves.
fn signallable(pid: u32) -> Option<Pid> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?);
    let own = nix::unistd::getpid();
    let own_group = nix::unistd::getpgrp();
    (pid.as_raw() > 1 && pid != own && pid != own_group).then_some(pid)
}

/// Ends a process that is not our child, with its group: TERM, grace, KILL. True when it is gone.
pub async fn stop(id: ProcessId, grace: Duration) -> bool {
    if signal_group(id, Signal::Term) {
        wait_gone(id, grace).await;
    }
    signal_group(id, Signal::Kill);
    wait_gone(id, KILL_TIME).await
}

/// Waits until a process is gone; false if it is still there after that time.
pub async fn wait_gone(id: ProcessId, at_most: Duration) -> bool {
    let started = Instant::now();
    let mut pause = LOOK_FIRST;
    while is_there(id) {
        if started.elapsed() >= at_most {
            return false;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_EVERY);
    }
    true
}

/// True while the process or the group that it led runs.
fn is_there(id: ProcessId) -> bool {
    let look = |process: &Process| (id_of(process), is_zombie(process));
    let kind = ProcessRefreshKind::nothing().without_tasks();
    match look_up(id.pid, kind, look) {
        Some((current, _)) if !current.is_same(id) => false,
        Some((_, false)) => true,
        Some((_, true)) | None => group_lives(id.pid),
    }
}

/// True while a process that does not just wait for its parent to notice its end is in the group.
pub(crate) fn group_lives(leader: u32) -> bool {
    if !signal_own_group(leader, None) {
        return false;
    }
    let kind = ProcessRefreshKind::nothing().without_tasks();
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
    let living = |process: &&Process| !is_zombie(process);
    let mut living = system.processes().values().filter(living);
    living.any(|process| {
        let pid = i32::try_from(process.pid().as_u32()).map(Pid::from_raw);
        let group = pid.ok().and_then(|pid| getpgid(Some(pid)).ok());
        group.is_some_and(|group| u32::try_from(group.as_raw()) == Ok(leader))
    })
}

/// Signals a group that we lead ourselves; true when it had members.
pub(crate) fn signal_own_group(leader: u32, signal: Option<Signal>) -> bool {
    let Ok(pid) = i32::try_from(leader) else {
        return false;
    };
    let sent = killpg(Pid::from_raw(pid), signal.map(signal::Signal::from));
    if signal == Some(Signal::Term) {
        // What was halted hears nothing before it goes on.
        let _ = killpg(Pid::from_raw(pid), signal::Signal::SIGCONT);
    }
    // Not permitted still means that somebody is there.
    pid > 1 && matches!(sent, Ok(()) | Err(Errno::EPERM))
}

/// The id of this process.
pub fn own_pid() -> u32 {
    std::process::id()
}

/// Sends a signal to this process itself.
pub fn raise(signal: Signal) {
    // A signal to oneself cannot fail: the number and the target are valid by their types.
    let _ = nix::sys::signal::raise(signal.into());
}
