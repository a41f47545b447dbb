//! Exclusive locks between processes, which say who holds them.

#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A reader holds the lock for an instant to see whether it is free, and so does a child between
/// fork and exec: only who holds it longer than this holds it.
const TRIES: u32 = 12;
const TRY_EVERY: Duration = Duration::from_millis(10);

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockInfo {
    /// The holder's process id.
    pub pid: u32,
    /// The command it runs.
    pub command: String,
    /// Its version of cp9.
    pub version: String,
    /// When it took the lock.
    pub started: Timestamp,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process, or another part of this one, holds it.
    #[error("lock `{path}` is held{}", by(.info.as_ref()))]
    Held {
        /// Who, if it could be read.
        info: Option<LockInfo>,
        /// The lock file.
        path: Utf8PathBuf,
    },
    /// The file cannot be locked.
    #[error("cannot lock `{path}`")]
    Io {
        /// The lock file.
        path: Utf8PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

fn by(info: Option<&LockInfo>) -> String {
    info.map_or_else(String::new, |info| {
        format!(
            " by process {} (`{}`, since {})",
            info.pid, info.command, info.started
        )
    })
}

impl Explain for LockError {
    fn category(&self) -> Category {
        match self {
            Self::Held { .. } => Category::Resource,
            Self::Io { .. } => Category::Permanent,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Held { .. } => "locked",
            Self::Io { .. } => "lock-failed",
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Held {
                info: Some(info), ..
            } => Some(format!(
                "wait for process {} to end, or interrupt it: kill -INT {}",
                info.pid, info.pid
            )),
            Self::Held { info: None, .. } => Some("wait for its holder to end".to_owned()),
            Self::Io { path, .. } => Some(format!("make the folder of {path} writable")),
        }
    }
}

/// A held lock; dropping it, or the end of the process, releases it. Its holder may remove the
/// file as the last act under the lock: from then on the next one may come in.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: Utf8PathBuf,
}

impl FileLock {
    /// Takes the lock or says who holds it. Its folder must exist.
    pub fn try_acquire(path: &Utf8Path, info: &LockInfo) -> Result<Self, LockError> {
        let failed = |source| LockError::Io {
            path: path.to_owned(),
            source,
        };
        for _ in 0..TRIES {
            let file = open(path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path).map_err(failed)? => {
                    let mut lock = Self {
                        file,
                        path: path.to_owned(),
                    };
                    // A full disk takes no words, yet the lock is held.
                    let _ = lock.write(info);
                    return Ok(lock);
                }
                // Its holder removed the file while we waited at the door: that lock is nobody's.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => std::thread::sleep(TRY_EVERY),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Err(LockError::Held {
            info: read_info(path),
            path: path.to_owned(),
        })
    }

    /// The lock file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    fn write(&mut self, info: &LockInfo) -> std::io::Result<()> {
        let text = serde_json::to_vec(info).map_err(std::io::Error::other)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Stale words about a holder would outlive it; without them the lock is released all the same.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Who holds the lock; `None` when it is free. A holder whose words cannot be read has pid 0.
pub fn holder(path: &Utf8Path) -> Option<LockInfo> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_info(path).unwrap_or_else(unknown)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn unknown() -> LockInfo {
    LockInfo {
        pid: 0,
        command: String::new(),
        version: String::new(),
        started: Timestamp::UNIX_EPOCH,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a lock is a file that stays open"
)]
fn open(path: &Utf8Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

fn is_at(file: &File, path: &Utf8Path) -> std::io::Result<bool> {
    let locked = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok(there.dev() == locked.dev() && there.ino() == locked.ino()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The holder writes right after locking, so unreadable words are worth a second look.
fn read_info(path: &Utf8Path) -> Option<LockInfo> {
    for _ in 0..5 {
        let mut text = String::new();
        File::open(path)
            .ok()?
            .take(64 * 1024)
            .read_to_string(&mut text)
            .ok()?;
        if let Ok(info) = serde_json::from_str(&text) {
            return Some(info);
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    None
}
