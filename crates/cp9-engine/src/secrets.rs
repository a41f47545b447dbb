//! The secrets of a session as a process beside it knows them: what a recorder must not write down.

use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use cp9_tools::Doors;
use jiff::Timestamp;

use crate::engine::Engine;

/// Knows a session's secrets, present and past.
#[derive(Debug)]
pub struct SessionSecrets {
    doors: Doors,
    folder: Utf8PathBuf,
    /// The time of the folder of secrets when it was read.
    known: Mutex<Option<Timestamp>>,
}

impl SessionSecrets {
    /// Those of a session folder; none are known before `learn`.
    pub fn new(engine: &Engine, folder: Utf8PathBuf) -> Self {
        Self {
            doors: engine.doors.quiet(),
            folder,
            known: Mutex::new(None),
        }
    }

    /// Learns what is new since the last time. Secrets are replaced file by file, which their folder's time
    /// tells.
    pub fn learn(&self) {
        let now = self.doors.modified(&self.folder.join("secrets"));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != now {
            cp9_loop::secrets::learn(&self.doors, &self.folder);
            *known = now;
        }
    }

    /// The text without any secret that has been learned.
    pub fn redact(&self, text: &str) -> String {
        self.doors.redactor.redact(text)
    }
}
