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
    let mut ledger = load(engine, folder);
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

fn load(engine: &Engine, folder: &Folder) -> Ledger {
    let bytes = engine.doors.read(&file(folder)).ok();
    bytes
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

/// What is known of the substrate's resources.
pub(crate) fn track(engine: &Engine, folder: &Folder) -> Track {
    let entries = load(engine, folder).entries.into_iter();
    let resources = entries.filter_map(|entry| match entry {
        LedgerEntry::Resource { resource, .. } => Some(resource),
        _ => None,
    });
    Track {
        resources: resources.collect(),
    }
}

/// Writes what is known of the substrate's resources.
pub(crate) fn keep(
    engine: &Engine,
    folder: &Folder,
    track: &Track,
    account: &str,
    region: &str,
) -> Result<(), EngineError> {
    let mut ledger = load(engine, folder);
    let before = ledger.clone();
    ledger
        .entries
        .retain(|entry| !matches!(entry, LedgerEntry::Resource { .. }));
    let resources = track.resources.iter();
    ledger
        .entries
        .extend(resources.map(|resource| LedgerEntry::Resource {
            account: account.to_owned(),
            region: region.to_owned(),
            resource: resource.clone(),
        }));
    if ledger == before {
        return Ok(());
    }
    write(engine, folder, &ledger)
}

/// Begins anew for a session that goes on: what an earlier destroy knew of processes is forgotten, what
/// exists in a cloud is not.
pub(crate) fn renew(engine: &Engine, folder: &Folder) -> Result<(), EngineError> {
    let resources: Vec<LedgerEntry> = load(engine, folder)
        .entries
        .into_iter()
        .filter(|entry| matches!(entry, LedgerEntry::Resource { .. }))
        .collect();
    if resources.is_empty() {
        return Ok(engine.doors.remove_tree(&folder.destroy())?);
    }
    // The whole of it is on disk before anything of it goes.
    write(engine, folder, &Ledger { entries: resources })?;
    let ledger = file(folder);
    for path in engine.doors.list(&folder.destroy())? {
        if path != ledger {
            engine.doors.remove_tree(&path)?;
        }
    }
    Ok(())
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
