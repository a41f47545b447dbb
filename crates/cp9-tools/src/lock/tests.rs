//! One holder at a time, in this process and between processes.
#![expect(
    clippy::disallowed_methods,
    reason = "the test starts itself as the other process"
)]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use super::*;

fn info(pid: u32) -> LockInfo {
    LockInfo {
        pid,
        command: "cp9 up".to_owned(),
        version: "0.1.0".to_owned(),
        started: Timestamp::UNIX_EPOCH,
    }
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().join("lock")).unwrap();
    (folder, path)
}

#[test]
fn the_second_is_told_who_holds_it() {
    let (_guard, path) = folder();
    assert_eq!(holder(&path), None);
    let lock = FileLock::try_acquire(&path, &info(7)).unwrap();
    assert_eq!(holder(&path), Some(info(7)));
    let error = FileLock::try_acquire(&path, &info(8)).unwrap_err();
    assert!(matches!(&error, LockError::Held { info: Some(held), .. } if *held == info(7)));
    assert_eq!(
        error.to_string(),
        format!("lock `{path}` is held by process 7 (`cp9 up`, since 1970-01-01T00:00:00Z)")
    );
    assert!(error.remedy().unwrap().contains("kill -INT 7"));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(lock);
    assert_eq!(holder(&path), None);
    let again = FileLock::try_acquire(&path, &info(8)).unwrap();
    assert_eq!(
        (again.path(), holder(&path)),
        (path.as_path(), Some(info(8)))
    );
}

#[test]
fn a_lock_that_was_removed_locks_nothing() {
    let (_guard, path) = folder();
    let first = FileLock::try_acquire(&path, &info(1)).unwrap();
    std::fs::remove_file(&path).unwrap();
    let second = FileLock::try_acquire(&path, &info(2)).unwrap();
    drop(first);
    assert_eq!(holder(&path), Some(info(2)));
    assert!(FileLock::try_acquire(&path, &info(3)).is_err());
    drop(second);
}

#[test]
fn holders_that_remove_the_file_never_overlap() {
    let (_guard, path) = folder();
    let inside = std::sync::atomic::AtomicU32::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    if let Ok(lock) = FileLock::try_acquire(&path, &info(1)) {
                        assert_eq!(inside.fetch_add(1, order), 0);
                        std::thread::yield_now();
                        assert_eq!(inside.fetch_sub(1, order), 1);
                        // Removing it is the last act under the lock: a new file is a new lock.
                        std::fs::remove_file(lock.path()).unwrap();
                        drop(lock);
                    }
                }
            });
        }
    });
}

#[test]
fn a_reader_does_not_disturb_who_takes_the_lock() {
    let (_guard, path) = folder();
    let done = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(order) {
                holder(&path);
            }
        });
        let taken: Vec<bool> = (0..30)
            .map(|_| FileLock::try_acquire(&path, &info(1)).is_ok())
            .collect();
        done.store(true, order);
        assert!(taken.iter().all(|taken| *taken));
    });
}

#[test]
fn unreadable_words_and_missing_folders() {
    let (_guard, path) = folder();
    let lock = FileLock::try_acquire(&path, &info(1)).unwrap();
    std::fs::write(&path, "{").unwrap();
    assert_eq!(holder(&path).map(|holder| holder.pid), Some(0));
    let error = FileLock::try_acquire(&path, &info(2)).unwrap_err();
    assert!(matches!(error, LockError::Held { info: None, .. }));
    drop(lock);
    let error = FileLock::try_acquire(&path.join("no/lock"), &info(1)).unwrap_err();
    assert!(matches!(error, LockError::Io { .. }), "{error:?}");
}

/// The other process: locks the path that it reads, says so, and waits for its input to end.
#[test]
#[ignore = "started by another test"]
fn other_process() {
    let mut path = String::new();
    std::io::stdin().read_line(&mut path).unwrap();
    if path.trim().is_empty() {
        return;
    }
    let lock = FileLock::try_acquire(path.trim().into(), &info(std::process::id())).unwrap();
    println!("locked");
    std::io::stdin().read_line(&mut path).unwrap();
    drop(lock);
}

fn start_other(path: &Utf8Path) -> Child {
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "lock::tests::other_process",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = other.stdin.as_mut().unwrap();
    writeln!(input, "{path}").unwrap();
    let mut said = BufReader::new(other.stdout.as_mut().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("locked")));
    other
}

#[test]
fn another_process_holds_it_until_it_ends_or_is_killed() {
    let (_guard, path) = folder();
    for kill in [false, true] {
        let mut other = start_other(&path);
        assert_eq!(holder(&path).map(|holder| holder.pid), Some(other.id()));
        let error = FileLock::try_acquire(&path, &info(1)).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("by process {}", other.id())),
            "{error}"
        );
        if kill {
            other.kill().unwrap();
        }
        drop(other.stdin.take());
        other.wait().unwrap();
        assert_eq!(holder(&path), None);
        drop(FileLock::try_acquire(&path, &info(1)).unwrap());
    }
}
