//! The sessions of this user on this machine: one file per name, so that two folders never run the
//! same name and no two sessions share a port.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_model::lifecycle::SessionState;
use cp9_model::{Category, Explain, Owner};
use cp9_tools::Doors;
use cp9_tools::files::FileError;
use cp9_tools::lock::{FileLock, LockError, LockInfo};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dirs::Dirs;
use crate::engine::Engine;
use crate::folder::Folder;

/// How long a process waits for another one that reads or writes the registry.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// What the registry says of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The session's name.
    pub(crate) name: String,
    /// Its folder.
    pub(crate) folder: Utf8PathBuf,
    /// The folder's id.
    pub(crate) id: String,
    /// The owner, once known.
    #[serde(default)]
    pub(crate) owner: Option<Owner>,
    /// The ports it has.
    #[serde(default)]
    pub(crate) ports: BTreeSet<u16>,
}

/// Why the registry cannot be used.
#[derive(Debug, Error)]
pub(crate) enum RegistryError {
    /// The name runs from another folder.
    #[error("session `{name}` already runs from `{folder}`")]
    Taken {
        /// The name.
        name: String,
        /// The folder that has it.
        folder: Utf8PathBuf,
    },
    /// The file system says no.
    #[error("cannot use the registry of sessions")]
    File(#[source] FileError),
    /// Another process keeps it locked.
    #[error("cannot lock the registry of sessions")]
    Lock(#[source] LockError),
}

impl Explain for RegistryError {
    fn category(&self) -> Category {
        match self {
            Self::Taken { .. } => Category::Config,
            Self::File(source) => source.category(),
            Self::Lock(_) => Category::Transient,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Taken { .. } => "name-taken",
            Self::File(source) => source.code(),
            Self::Lock(source) => source.code(),
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Taken { name, folder } => {
                let place = folder
                    .parent()
                    .and_then(camino::Utf8Path::parent)
                    .unwrap_or(folder);
                Some(format!(
                    "choose another `name`, or run `cp9 destroy --session {name}` in `{place}`"
                ))
            }
            Self::File(source) => source.remedy(),
            Self::Lock(source) => source.remedy(),
        }
    }
}

/// The registry, open for this process.
#[derive(Debug)]
pub(crate) struct Registry {
    doors: Doors,
    dir: Utf8PathBuf,
}

impl Registry {
    pub(crate) fn new(doors: &Doors, dirs: &Dirs) -> Self {
        Self {
            doors: doors.clone(),
            dir: dirs.registry(),
        }
    }

    fn file(&self, name: &str) -> Utf8PathBuf {
        self.dir.join(format!("{name}.json"))
    }

    /// The living entry of a name; a stale one counts as none.
    pub(crate) fn entry(&self, name: &str) -> Option<Entry> {
        self.read(&self.file(name))
            .filter(|entry| self.is_alive(entry))
    }

    fn read(&self, path: &Utf8PathBuf) -> Option<Entry> {
        let bytes = self.doors.read(path).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// An entry is stale when its folder is gone or has become another session.
    fn is_alive(&self, entry: &Entry) -> bool {
        let state = Folder {
            root: entry.folder.clone(),
            name: entry.name.clone(),
        }
        .state();
        let Ok(bytes) = self.doors.read(&state) else {
            return false;
        };
        // A journal that this build cannot read is still somebody's.
        SessionState::parse(state.as_str(), &bytes).map_or(true, |state| state.id == entry.id)
    }

    /// What was last recorded for this folder, stale or not.
    pub(crate) fn recorded(&self, folder: &Folder) -> Option<Entry> {
        self.read(&self.file(&folder.name))
            .filter(|entry| entry.folder == folder.root)
    }

    /// Notes who the session belongs to, so that its processes can be found without its folder.
    pub(crate) async fn own(
        &self,
        engine: &Engine,
        folder: &Folder,
        owner: &Owner,
    ) -> Result<(), RegistryError> {
        if self
            .recorded(folder)
            .is_some_and(|entry| entry.owner.as_ref() == Some(owner))
        {
            return Ok(());
        }
        let _lock = self.lock(engine).await?;
        match self.recorded(folder) {
            Some(entry) => self.write(&Entry {
                owner: Some(owner.clone()),
                ..entry
            }),
            None => Ok(()),
        }
    }

    /// True if the folder's own entry holds all of these ports.
    pub(crate) fn holds(&self, folder: &Folder, id: &str, ports: &BTreeSet<u16>) -> bool {
        self.recorded(folder)
            .is_some_and(|entry| entry.id == id && entry.ports.is_superset(ports))
    }

    /// Refuses a name that another folder runs.
    pub(crate) fn check(&self, folder: &Folder) -> Result<(), RegistryError> {
        match self.entry(&folder.name) {
            Some(entry) if entry.folder != folder.root => Err(RegistryError::Taken {
                name: folder.name.clone(),
                folder: entry.folder,
            }),
            _ => Ok(()),
        }
    }

    /// Claims the name for a folder, keeping the ports it already has.
    pub(crate) async fn claim(
        &self,
        engine: &Engine,
        folder: &Folder,
        id: &str,
    ) -> Result<(), RegistryError> {
        let _lock = self.lock(engine).await?;
        // Under the lock nobody else writes: what lies half-written was left by a killed process.
        self.doors
            .sweep_temporaries(&self.dir)
            .map_err(RegistryError::File)?;
        self.check(folder)?;
        let has = self.entry(&folder.name);
        let (ports, owner) = has
            .map(|entry| (entry.ports, entry.owner))
            .unwrap_or_default();
        self.write(&entry(folder, id, owner, ports))
    }

    /// Lets `choose` pick ports, knowing those of all other living sessions, and records them. None chosen
    /// leaves the record as it is.
    pub(crate) async fn reserve<F>(
        &self,
        engine: &Engine,
        folder: &Folder,
        id: &str,
        choose: F,
    ) -> Result<(), RegistryError>
    where
        F: FnOnce(&BTreeSet<u16>) -> Option<BTreeSet<u16>>,
    {
        let _lock = self.lock(engine).await?;
        let Some(ports) = choose(&self.others(&folder.name)) else {
            return Ok(());
        };
        let owner = self.recorded(folder).and_then(|entry| entry.owner);
        self.write(&entry(folder, id, owner, ports))
    }

    /// Forgets a session, if the entry is still this folder's, or that of the place it was moved from.
    pub(crate) async fn release(
        &self,
        engine: &Engine,
        folder: &Folder,
        id: Option<&str>,
    ) -> Result<(), RegistryError> {
        let path = self.file(&folder.name);
        if !self.doors.exists(&path) {
            return Ok(());
        }
        let _lock = self.lock(engine).await?;
        match self.read(&path) {
            Some(entry) if entry.folder != folder.root && Some(entry.id.as_str()) != id => Ok(()),
            _ => self.doors.remove_file(&path).map_err(RegistryError::File),
        }
    }

    /// The folders of all living sessions.
    pub(crate) fn folders(&self) -> Vec<Folder> {
        let files = self.doors.list(&self.dir).unwrap_or_default();
        let entries = files.iter().filter_map(|path| self.read(path));
        entries
            .filter(|entry| self.is_alive(entry))
            .map(|entry| Folder {
                root: entry.folder,
                name: entry.name,
            })
            .collect()
    }

    fn others(&self, name: &str) -> BTreeSet<u16> {
        let files = self.doors.list(&self.dir).unwrap_or_default();
        files
            .iter()
            .filter(|path| path.extension() == Some("json") && path.file_stem() != Some(name))
            .filter_map(|path| self.read(path))
            .filter(|entry| self.is_alive(entry))
            .flat_map(|entry| entry.ports)
            .collect()
    }

    fn write(&self, entry: &Entry) -> Result<(), RegistryError> {
        let bytes =
            serde_json::to_vec_pretty(entry).expect("an entry is plain data and always serialises");
        let path = self.file(&entry.name);
        self.doors
            .write_if_changed(&path, &bytes, 0o600)
            .map(drop)
            .map_err(RegistryError::File)
    }

    async fn lock(&self, engine: &Engine) -> Result<FileLock, RegistryError> {
        self.doors
            .create_private_dir(&self.dir)
            .map_err(RegistryError::File)?;
        let info = LockInfo {
            pid: cp9_tools::procs::own_pid(),
            command: "cp9 registry".into(),
            version: engine.version.to_owned(),
            started: self.doors.clock.now(),
        };
        let path = self.dir.join(".lock");
        let deadline = self.doors.clock.instant() + PATIENCE;
        loop {
            match FileLock::try_acquire(&path, &info) {
                Err(LockError::Held { .. }) if self.doors.clock.instant() < deadline => {
                    tokio::time::sleep(PAUSE).await;
                }
                other => return other.map_err(RegistryError::Lock),
            }
        }
    }
}

fn entry(folder: &Folder, id: &str, owner: Option<Owner>, ports: BTreeSet<u16>) -> Entry {
    Entry {
        name: folder.name.clone(),
        folder: folder.root.clone(),
        id: id.to_owned(),
        owner,
        ports,
    }
}
