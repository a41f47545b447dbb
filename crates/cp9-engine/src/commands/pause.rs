//! `cp9 pause`: stops the controller and the host, keeps everything else. `up` goes on.

use cp9_model::lifecycle::Event;
use cp9_model::output::Target;
use cp9_model::report::PauseReport;
use cp9_tools::procs;

use super::{controller, status};
use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome};
use crate::folder::Folder;
use crate::host::{Host as _, ProcessHost};
use crate::session::LockedSession;
use crate::{select, session};

/// Pauses a session.
pub async fn pause(engine: &Engine, select: Select) -> Outcome<PauseReport> {
    let folder = match select::folder(engine, &select) {
        Ok(folder) => folder,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let target = status::on_disk(engine, &folder)
        .map(|disk| status::target(&disk))
        .unwrap_or_default();
    match pause_folder(engine, folder).await {
        Ok(report) => Outcome {
            report: Some(report),
            error: None,
            target,
        },
        Err(error) => Outcome::failed(error, target),
    }
}

async fn pause_folder(engine: &Engine, folder: Folder) -> Result<PauseReport, EngineError> {
    let disk = status::on_disk(engine, &folder)?;
    session::refuse_copy(&engine.doors, &folder, &disk.state)?;
    controller::refuse_inside(engine, &disk.state)?;
    let lock = session::lock(engine, &folder, "pause")?;
    let dirs = Dirs::of(&engine.doors.env)?;
    // Read again: what was there before the lock may be another run's half-way state.
    let state = status::on_disk(engine, &folder)?.state;
    let mut session = LockedSession::new(engine.doors.clone(), folder, lock, state);
    let at = engine.doors.clock.now();
    session.event(Event::Recovered { at })?;
    let id = session.state.id.clone();
    let host = ProcessHost {
        engine,
        dirs: &dirs,
        folder: &session.folder,
        id: &id,
    };
    let living = host
        .children()
        .into_iter()
        .filter(|(_, id)| procs::is_alive(*id))
        .count();
    controller::stop(engine, &session.folder).await?;
    host.stop().await?;
    let ports = host.load()?.map(|facts| facts.ports).unwrap_or_default();
    let mut released: Vec<u16> = ports
        .values()
        .flat_map(|ports| ports.values().copied())
        .collect();
    released.retain(|port| procs::is_port_free(*port));
    released.sort_unstable();
    session.event(Event::Paused)?;
    status::touch(engine, &session.folder);
    let report = PauseReport {
        session: session.folder.name.clone(),
        stopped: u32::try_from(living).unwrap_or(u32::MAX),
        released,
    };
    session.unlock();
    Ok(report)
}
