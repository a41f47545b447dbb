//! Processes are found, told apart and ended.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the processes that they look for"
)]

use std::process::{Command, Stdio};

use super::*;

/// Looks until something is there; the pause is the product's own.
pub(crate) async fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "it never came");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn me() -> ProcessId {
    identify(std::process::id()).unwrap()
}

#[test]
fn this_process_is_found() {
    let found = find(std::process::id()).unwrap();
    assert_eq!(found.id, me());
    assert!(is_alive(found.id) && !found.zombie);
    let exe = std::env::current_exe().unwrap();
    assert_eq!(found.exe.unwrap().as_std_path(), exe);
    let cwd = std::env::current_dir().unwrap();
    assert_eq!(found.cwd.unwrap().as_std_path(), cwd);
    assert!(!found.cmd.is_empty() && !found.env.is_empty());
    assert_eq!(find(u32::MAX), None);
}

#[test]
fn a_scan_shows_environment_and_parent_of_ours() {
    let mut child = Command::new("sleep")
        .arg("300")
        .env("CP9_TEST_MARK", "here")
        .spawn()
        .unwrap();
    let all = scan();
    let found = all
        .iter()
        .find(|facts| facts.id.pid == child.id())
        .unwrap()
        .clone();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found.var("CP9_TEST_MARK"), Some("here"));
    assert_eq!(found.parent, Some(std::process::id()));
    assert_eq!(found.cmd, ["sleep", "300"]);
    assert!(all.iter().any(|facts| facts.id == me()));
    let pids: std::collections::BTreeSet<u32> = all.iter().map(|facts| facts.id.pid).collect();
    assert_eq!(pids.len(), all.len(), "threads are no processes");
}

#[test]
fn another_start_time_is_another_process() {
    let me = me();
    let earlier = ProcessId {
        start_time: me.start_time - 100,
        ..me
    };
    assert!(!is_alive(earlier) && !me.is_same(earlier));
    let adjusted = ProcessId {
        start_time: me.start_time + 1,
        ..me
    };
    assert!(is_alive(adjusted));
}

#[tokio::test]
async fn zombies_are_dead() {
    let mut child = Command::new("true").spawn().unwrap();
    let id = identify(child.id()).unwrap();
    let found = eventually(|| find(id.pid).filter(|facts| facts.zombie)).await;
    assert!(!is_alive(found.id));
    assert!(stop(id, Duration::ZERO).await);
    child.wait().unwrap();
}

#[test]
fn nobody_signals_init_everything_or_itself() {
    let id = |pid| ProcessId { pid, start_time: 0 };
    for pid in [0, 1, std::process::id(), u32::MAX, u32::MAX / 2 + 1] {
        assert!(!signal_group(id(pid), Signal::Kill), "{pid}");
        assert!(pid != 0 || !signal_own_group(pid, None));
    }
    let me = me();
    assert!(!signal_group(me, Signal::Kill));
}

#[tokio::test]
async fn a_process_without_a_group_of_its_own_is_signalled_alone() {
    let mut child = Command::new("sleep")
        .arg("300")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let id = identify(child.id()).unwrap();
    let other = ProcessId {
        start_time: id.start_time - 100,
        ..id
    };
    assert!(!signal_group(other, Signal::Kill));
    assert!(is_alive(id));
    assert!(stop(id, Duration::from_secs(20)).await);
    let status = child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(15)
    );
    assert!(!is_alive(id) && !signal_group(id, Signal::Term));
}

#[tokio::test]
async fn a_halted_process_is_known_and_hears_that_it_is_to_end() {
    use std::os::unix::process::CommandExt as _;
    let mut child = Command::new("sleep")
        .arg("300")
        .process_group(0)
        .spawn()
        .expect("sleep");
    let id = identify(child.id()).expect("it runs");
    assert!(!is_halted(id.pid));
    let pid = Pid::from_raw(i32::try_from(id.pid).expect("a pid"));
    kill(pid, signal::Signal::SIGSTOP).expect("halted");
    eventually(|| is_halted(id.pid).then_some(())).await;
    let started = Instant::now();
    assert!(stop(id, Duration::from_mins(1)).await);
    assert!(started.elapsed() < Duration::from_secs(30));
    let exit = child.wait().expect("its end");
    let signal = std::os::unix::process::ExitStatusExt::signal(&exit);
    assert_eq!(signal, Some(signal::Signal::SIGTERM as i32), "not killed");
}
