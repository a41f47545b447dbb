//! Where a session lies and whose it is: what every part of the controller is given.

use std::sync::Arc;

use camino::Utf8PathBuf;
use cp9_model::scope::Scope;
use cp9_tools::{Doors, Environment};
use tokio::sync::Semaphore;

/// The places of a session that its controller uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolderPaths {
    /// The session folder, `.cp9/<name>`.
    pub folder: Utf8PathBuf,
    /// The controller's socket.
    pub socket: Utf8PathBuf,
}

impl SessionFolderPaths {
    pub(super) fn lock(&self) -> Utf8PathBuf {
        self.folder.join("controller.lock")
    }

    pub(super) fn plan(&self) -> Utf8PathBuf {
        self.folder.join("tilt/dev-plan.json")
    }

    /// The file that a resource's processes append their output to.
    pub(super) fn raw_log(&self, resource: &str) -> Utf8PathBuf {
        self.folder.join(format!("logs/raw/{resource}.log"))
    }

    /// The folder of a service's process.
    pub(super) fn run(&self, service: &str) -> Utf8PathBuf {
        self.folder.join("run").join(service)
    }

    pub(super) fn facts(&self) -> Utf8PathBuf {
        self.folder.join("session-facts.json")
    }
}

/// What every part of the controller is given. Clones are cheap.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) doors: Doors,
    pub(super) paths: Arc<SessionFolderPaths>,
    pub(super) scope: Arc<Scope>,
    /// The version of the cp9 that serves.
    pub(super) version: Arc<str>,
    /// What builds inherit.
    pub(super) build_env: Environment,
    /// How many builds may run at once.
    pub(super) builds: Arc<Semaphore>,
}
