//! The process host: services as child processes of this machine, in private folders and on allocated
//! loopback ports.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::host::{HostFacts, PortWanted};
use cp9_model::scope::ENV_ID;
use cp9_model::{Category, Explain};
use cp9_tools::files::FileError;
use cp9_tools::procs::{self, ProcessFacts, ProcessId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Host, ports};
use crate::dirs::Dirs;
use crate::document;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::registry::Registry;

/// The longest path that a Unix socket address takes on every supported system.
const SOCKET_MAX: usize = 103;
/// How long a process gets between the polite signal and the hard one.
const GRACE: Duration = Duration::from_secs(5);
/// The private folders of a session.
const DIRS: [&str; 4] = ["run", "logs", "secrets", "tilt"];

/// Every port of the range is taken.
#[derive(Debug, Error)]
#[error("no free port left between {} and {}", ports::FIRST, ports::FIRST + ports::COUNT - 1)]
struct PortsExhausted;

impl Explain for PortsExhausted {
    fn category(&self) -> Category {
        Category::Resource
    }
    fn code(&self) -> &'static str {
        "ports-exhausted"
    }
    fn remedy(&self) -> Option<String> {
        Some("end what listens there, or destroy sessions that you do not need".into())
    }
}

/// What the controller wrote about a child, as far as the engine reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildRecord {
    /// The child's process id.
    pub(crate) pid: u32,
    /// When it started.
    pub(crate) start_time: u64,
}

/// The process host of one session.
pub(crate) struct ProcessHost<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) dirs: &'a Dirs,
    pub(crate) folder: &'a Folder,
    pub(crate) id: &'a str,
}

impl ProcessHost<'_> {
    /// The controller's socket: in the folder, or under a hashed name where the path is too long.
    pub(crate) fn socket(&self) -> Utf8PathBuf {
        let plain = self.folder.join("controller.sock");
        if plain.as_str().len() <= SOCKET_MAX {
            return plain;
        }
        let digest = cp9_model::digest::bytes(self.folder.root.as_str().as_bytes());
        let runtime = self.dirs.runtime.join(format!("{}.sock", &digest[..16]));
        if runtime.as_str().len() <= SOCKET_MAX {
            return runtime;
        }
        Utf8PathBuf::from(format!("/tmp/cp9-{}.sock", &digest[..16]))
    }

    /// The children that the controller recorded, by service.
    pub(crate) fn children(&self) -> Vec<(String, ProcessId)> {
        let services = self
            .engine
            .doors
            .list(&self.folder.join("run"))
            .unwrap_or_default();
        services
            .iter()
            .filter_map(|dir| {
                let record = self.child(dir)?;
                let id = ProcessId {
                    pid: record.pid,
                    start_time: record.start_time,
                };
                Some((dir.file_name()?.to_owned(), id))
            })
            .collect()
    }

    fn child(&self, dir: &Utf8Path) -> Option<ChildRecord> {
        let bytes = self.engine.doors.read(&dir.join("child.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The services whose recorded child lives.
    pub(crate) fn living(&self) -> BTreeSet<String> {
        let children = self.children().into_iter();
        children
            .filter(|(_, id)| procs::is_alive(*id))
            .map(|(service, _)| service)
            .collect()
    }

    fn write(&self, facts: &HostFacts) -> Result<(), FileError> {
        let bytes = document::bytes(facts);
        let path = self.folder.host();
        self.engine
            .doors
            .write_if_changed(&path, &bytes, 0o600)
            .map(drop)
    }
}

impl Host for ProcessHost<'_> {
    async fn ensure(&self, wanted: &[PortWanted]) -> Result<HostFacts, EngineError> {
        let doors = &self.engine.doors;
        for dir in DIRS {
            doors.create_private_dir(&self.folder.join(dir))?;
        }
        let socket = self.socket();
        if let Some(dir) = socket.parent().filter(|dir| *dir != Utf8Path::new("/tmp")) {
            doors.create_private_dir(dir)?;
        }
        let has = self.load()?.map(|facts| facts.ports).unwrap_or_default();
        let living = self.living();
        let mut chosen = None;
        let registry = Registry::new(doors, self.dirs);
        let choose = |others: &BTreeSet<u16>| {
            // What the session already has may be held by its own child; anything new must be free.
            let may_have = |want: &PortWanted, port: u16| {
                let own = has
                    .get(&want.service)
                    .and_then(|ports| ports.get(&want.container))
                    == Some(&port);
                if own {
                    usable(&living, &want.service, port, self.id)
                } else {
                    procs::is_port_free(port)
                }
            };
            chosen = ports::allocate(&self.folder.name, wanted, &has, others, &may_have);
            chosen.as_ref().map(all)
        };
        registry
            .reserve(self.engine, self.folder, self.id, choose)
            .await?;
        let facts = HostFacts {
            api_version: "cp9.host/v1".into(),
            mode: "process".into(),
            id: self.id.to_owned(),
            socket: socket.into_string(),
            ports: chosen.ok_or(PortsExhausted)?,
        };
        self.write(&facts)?;
        Ok(facts)
    }

    fn load(&self) -> Result<Option<HostFacts>, EngineError> {
        let path = self.folder.host();
        if !self.engine.doors.exists(&path) {
            return Ok(None);
        }
        // Facts that cannot be read are no facts: `ensure` writes them anew.
        Ok(serde_json::from_slice(&self.engine.doors.read(&path)?).ok())
    }

    fn holds(&self, facts: &HostFacts, wanted: &[PortWanted]) -> bool {
        let living = self.living();
        let ports = all(&facts.ports);
        facts.id == self.id
            && facts.socket == self.socket().as_str()
            && DIRS
                .iter()
                .all(|dir| self.engine.doors.is_private_dir(&self.folder.join(dir)))
            && ports.len() == wanted.len()
            && Registry::new(&self.engine.doors, self.dirs).holds(self.folder, self.id, &ports)
            && wanted.iter().all(|want| {
                facts
                    .port(&want.service, want.container)
                    .is_some_and(|port| usable(&living, &want.service, port, self.id))
            })
    }

    async fn stop(&self) -> Result<u32, EngineError> {
        let mut stopped = 0;
        for (_, id) in self.children() {
            if procs::is_alive(id) && procs::stop(id, GRACE).await {
                stopped += 1;
            }
        }
        Ok(stopped)
    }
}

/// A port is usable if it is free, held by this session's own living child of that service, or by another
/// process of the session, whose record was lost and which the controller ends.
fn usable(living: &BTreeSet<String>, service: &str, port: u16, id: &str) -> bool {
    let ours = |one: &ProcessFacts| one.var(ENV_ID) == Some(id);
    living.contains(service) || procs::is_port_free(port) || {
        let who = procs::listeners(port);
        !who.is_empty() && who.iter().all(ours)
    }
}

/// Every allocated port.
fn all(ports: &ports::Ports) -> BTreeSet<u16> {
    ports
        .values()
        .flat_map(|ports| ports.values().copied())
        .collect()
}
