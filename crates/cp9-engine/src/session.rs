//! A session on disk: reading its journal, and the locked form that alone may write it.

use camino::Utf8PathBuf;
use cp9_model::lifecycle::{Event, IllegalEvent, SessionState, Unreadable, apply};
use cp9_model::{Category, ExitCode, Explain};
use cp9_tools::Doors;
use cp9_tools::files::FileError;
use cp9_tools::lock::{FileLock, LockError, LockInfo};
use thiserror::Error;

use crate::engine::Engine;
use crate::folder::Folder;

/// Why a session's journal cannot be read, locked or written.
#[derive(Debug, Error)]
pub(crate) enum SessionError {
    /// The journal is of a newer format or damaged.
    #[error("cannot use the journal of session `{session}`")]
    Journal {
        /// The session.
        session: String,
        /// Why.
        #[source]
        source: Unreadable,
    },
    /// The file system says no.
    #[error("cannot keep the journal of session `{session}`")]
    File {
        /// The session.
        session: String,
        /// Why.
        #[source]
        source: FileError,
    },
    /// An event that cannot be: a bug.
    #[error("the journal of session `{session}` refuses an event")]
    Event {
        /// The session.
        session: String,
        /// Why.
        #[source]
        source: IllegalEvent,
    },
    /// Another process works on the session.
    #[error("session `{session}` is locked by {holder}")]
    Locked {
        /// The session.
        session: String,
        /// Who, with pid and command.
        holder: String,
        /// The holder's pid, if its lock file could be read.
        pid: Option<u32>,
        /// The lock file.
        path: Utf8PathBuf,
    },
    /// The folder was copied while its session lives elsewhere.
    #[error("folder `{folder}` is a copy of session `{session}` in `{origin}`")]
    Copied {
        /// The session.
        session: String,
        /// The copy.
        folder: Utf8PathBuf,
        /// The session's own folder.
        origin: Utf8PathBuf,
    },
    /// The lock file cannot be opened or locked.
    #[error("cannot lock session `{session}`")]
    Lock {
        /// The session.
        session: String,
        /// Why.
        #[source]
        source: LockError,
    },
}

impl SessionError {
    /// True for a journal that no cp9 can read; false for one that a newer cp9 can.
    pub(crate) fn is_damaged(&self) -> bool {
        let malformed = |source: &Unreadable| matches!(source, Unreadable::Malformed { .. });
        matches!(self, Self::Journal { source, .. } if malformed(source))
    }
}

impl Explain for SessionError {
    fn category(&self) -> Category {
        match self {
            Self::Journal { source, .. } => source.category(),
            Self::File { source, .. } => source.category(),
            Self::Event { source, .. } => source.category(),
            Self::Locked { .. } => Category::Transient,
            Self::Copied { .. } => Category::Config,
            Self::Lock { source, .. } => source.category(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Journal { source, .. } => source.code(),
            Self::File { source, .. } => source.code(),
            Self::Event { source, .. } => source.code(),
            Self::Locked { .. } => "session-locked",
            Self::Copied { .. } => "session-copied",
            Self::Lock { source, .. } => source.code(),
        }
    }

    fn exit(&self) -> ExitCode {
        match self {
            Self::Locked { .. } => ExitCode::Locked,
            _ => self.category().into(),
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Journal { source, .. } => source.remedy(),
            Self::File { source, .. } => source.remedy(),
            Self::Event { source, .. } => source.remedy(),
            Self::Locked { pid: Some(pid), .. } => Some(format!(
                "wait for process {pid}, or stop it with `kill -INT {pid}`; the lock ends with its process"
            )),
            Self::Copied { folder, .. } => Some(format!("remove the copy: `rm -r {folder}`")),
            Self::Locked { path, .. } => Some(format!("see who holds it: `fuser {path}`")),
            Self::Lock { source, .. } => source.remedy(),
        }
    }
}

/// Reads the journal of a session; none where there is no session.
pub(crate) fn load(doors: &Doors, folder: &Folder) -> Result<Option<SessionState>, SessionError> {
    let path = folder.state();
    if !doors.exists(&path) {
        return Ok(None);
    }
    let session = folder.name.clone();
    let bytes = doors.read(&path).map_err(|source| SessionError::File {
        session: session.clone(),
        source,
    })?;
    let state = SessionState::parse(path.as_str(), &bytes);
    state
        .map(Some)
        .map_err(|source| SessionError::Journal { session, source })
}

/// Refuses a folder that was copied together with its project: its id is that of the session it was copied
/// from, whose processes are not this folder's to end. A folder that was moved is its session's own.
pub(crate) fn refuse_copy(
    doors: &Doors,
    folder: &Folder,
    state: &SessionState,
) -> Result<(), SessionError> {
    let origin = Folder::beside(state.file.as_str().into(), &folder.name);
    if origin.root == folder.root {
        return Ok(());
    }
    match load(doors, &origin) {
        Ok(Some(other)) if other.id == state.id => Err(SessionError::Copied {
            session: folder.name.clone(),
            folder: folder.root.clone(),
            origin: origin.root,
        }),
        _ => Ok(()),
    }
}

/// A session that this process holds; the only thing that can write its journal.
#[derive(Debug)]
pub(crate) struct LockedSession {
    pub(crate) folder: Folder,
    pub(crate) state: SessionState,
    doors: Doors,
    lock: FileLock,
}

/// Takes the lock of a folder that exists.
pub(crate) fn lock(
    engine: &Engine,
    folder: &Folder,
    command: &str,
) -> Result<FileLock, SessionError> {
    let info = LockInfo {
        pid: cp9_tools::procs::own_pid(),
        command: format!("cp9 {command}"),
        version: engine.version.to_owned(),
        started: engine.doors.clock.now(),
    };
    FileLock::try_acquire(&folder.lock(), &info).map_err(|source| match source {
        LockError::Held { info, path } => SessionError::Locked {
            session: folder.name.clone(),
            holder: info.as_ref().map_or_else(
                || "another process".to_owned(),
                |info| {
                    format!(
                        "process {} (`{}`, since {})",
                        info.pid, info.command, info.started
                    )
                },
            ),
            pid: info.map(|info| info.pid),
            path,
        },
        source @ LockError::Io { .. } => SessionError::Lock {
            session: folder.name.clone(),
            source,
        },
    })
}

impl LockedSession {
    /// Joins a held lock with the journal it guards.
    pub(crate) fn new(doors: Doors, folder: Folder, lock: FileLock, state: SessionState) -> Self {
        Self {
            folder,
            state,
            doors,
            lock,
        }
    }

    /// Takes an event into the journal and writes it, unless it changes nothing.
    pub(crate) fn event(&mut self, event: Event) -> Result<(), SessionError> {
        let session = self.folder.name.clone();
        let next = apply(self.state.clone(), event).map_err(|source| SessionError::Event {
            session: session.clone(),
            source,
        })?;
        if next != self.state {
            let before = std::mem::replace(&mut self.state, next);
            if let Err(error) = self.save() {
                // What is not on disk did not happen.
                self.state = before;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the journal.
    pub(crate) fn save(&self) -> Result<(), SessionError> {
        self.doors
            .write_atomic(&self.folder.state(), &self.state.to_bytes(), 0o600)
            .map_err(|source| SessionError::File {
                session: self.folder.name.clone(),
                source,
            })
    }

    /// Gives the lock up.
    pub(crate) fn unlock(self) {
        drop(self.lock);
    }
}
