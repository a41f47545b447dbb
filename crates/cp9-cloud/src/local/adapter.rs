//! The adapter of the `local` cloud.

use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_model::Scope;
use cp9_tools::program::Cmd;
use cp9_tools::{Doors, procs};

use super::belongs;
use crate::cloud::{Cloud, CloudError, Found, Ledger, LedgerEntry, ProvenScope};

/// How long a process gets between the polite signal and the hard one.
const GRACE: Duration = Duration::from_secs(5);

/// How long a process may take to show its environment.
const READ_LIMIT: Duration = Duration::from_secs(2);

/// This machine, for one session folder.
#[derive(Debug, Clone)]
pub struct Local {
    doors: Doors,
    folder: Utf8PathBuf,
}

impl Local {
    /// The adapter for a session folder.
    pub fn new(doors: Doors, folder: Utf8PathBuf) -> Self {
        // The system shows paths without links.
        let folder = doors.canonical(&folder).unwrap_or(folder);
        Self { doors, folder }
    }

    /// Looks at a process as a scan would, for as long as it may take to begin: a starting program has no
    /// environment for a moment, although the system already says that it was started.
    async fn read_back(&self, pid: u32, scope: &Scope) -> Option<&'static str> {
        let deadline = self.doors.clock.instant() + READ_LIMIT;
        loop {
            let facts = procs::find(pid)?;
            let because = belongs::because(&facts, scope, &self.folder, &Ledger::default());
            if because.is_some() || self.doors.clock.instant() > deadline {
                return because;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn living(&self, scope: &Scope, ledger: &Ledger) -> Vec<Found> {
        belongs::select(
            &procs::scan(),
            procs::own_pid(),
            scope,
            &self.folder,
            ledger,
        )
    }
}

impl Cloud for Local {
    /// A child that carries the scope is started and looked for as destroy would: what this machine
    /// cannot show now it could not clean up later.
    async fn prove(&self, scope: Scope) -> Result<ProvenScope, CloudError> {
        let session = scope.session.to_string();
        let mut probe = Cmd::new("sleep").arg("5").clear_env().cwd("/");
        for (key, value) in scope.env() {
            probe = probe.env(key, value);
        }
        if let Some(path) = self.doors.env.get("PATH") {
            probe = probe.env("PATH", path);
        }
        let mut child = self
            .doors
            .spawn(&probe, "/dev/null".into())
            .map_err(|source| CloudError::Probe {
                session: session.clone(),
                source,
            })?;
        let id = child.id;
        let seen = self.read_back(id.pid, &scope).await;
        child.stop(Duration::ZERO).await;
        match seen {
            Some("environment") => Ok(ProvenScope::new(scope)),
            _ => Err(CloudError::Unreadable { session }),
        }
    }

    async fn scan(&self, scope: &ProvenScope, ledger: &Ledger) -> Result<Vec<Found>, CloudError> {
        Ok(self.living(scope.scope(), ledger))
    }

    async fn delete(&self, scope: &ProvenScope, found: &Found) -> Result<bool, CloudError> {
        let Ok(pid) = found.id.parse() else {
            return Ok(false);
        };
        let id = procs::ProcessId {
            pid,
            start_time: found.start_time,
        };
        let what = found.name.clone();
        let ledger = match found.because.as_str() {
            "ledger" => Ledger {
                entries: vec![LedgerEntry::Process {
                    pid,
                    start_time: found.start_time,
                    what,
                }],
            },
            _ => Ledger::default(),
        };
        let still = self
            .living(scope.scope(), &ledger)
            .iter()
            .any(|other| other.id == found.id);
        if !still {
            return Ok(!procs::is_alive(id));
        }
        Ok(procs::stop(id, GRACE).await)
    }
}
