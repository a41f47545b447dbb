//! Everything that cp9 knows to exist for a session, written down before anything is ended: what is known
//! and still there in the end is a survivor even if no mark of the scope is left on it.

use camino::Utf8PathBuf;
use cp9_cloud::{Ledger, LedgerEntry};
use cp9_model::substrate::Track;
use cp9_tools::procs;

use crate::commands::controller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::host::{Host as _, ProcessHost};

fn file(folder: &Folder) -> Utf8PathBuf {
    folder.destroy().join("ledger.json")
}

/// The ledger of an earlier pass, extended by what is known now.
pub(super) fn gather(engine: &Engine, folder: &Folder, host: &ProcessHost<'_>) -> Ledger {
    let mut ledger: Ledger = engine
        .doors
        .read(&file(folder))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let children = host.children().into_iter();
    let controller = controller::process(folder).map(|id| ("controller".to_owned(), id));
    let processes = children
        .chain(controller)
        .map(|(what, id)| LedgerEntry::Process {
            pid: id.pid,
            start_time: id.start_time,
            what,
        });
    let ports = held_ports(host)
        .into_iter()
        .map(|port| LedgerEntry::Port { port });
    for entry in processes.chain(ports) {
        if !ledger.entries.contains(&entry) {
            ledger.entries.push(entry);
        }
    }
    ledger
}

/// Writes a ledger down for the passes to come.
pub(super) fn write(engine: &Engine, folder: &Folder, ledger: &Ledger) -> Result<(), EngineError> {
    engine.doors.create_private_dir(&folder.destroy())?;
    let bytes =
        serde_json::to_vec_pretty(ledger).expect("a ledger is plain data and always serialises");
    engine
        .doors
        .write_if_changed(&file(folder), &bytes, 0o600)?;
    Ok(())
}

/// The ports that the session's own living services hold now: each must be free in the end. A port that
/// somebody else took while the session was paused is no business of ours.
fn held_ports(host: &ProcessHost<'_>) -> Vec<u16> {
    let facts = host.load().unwrap_or_default();
    let living = host.living();
    let services = facts
        .iter()
        .flat_map(|facts| &facts.ports)
        .filter(|(service, _)| living.contains(*service));
    services
        .flat_map(|(_, ports)| ports.values().copied())
        .filter(|port| !procs::is_port_free(*port))
        .collect()
}
