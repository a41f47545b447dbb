//! `cp9 pause`: stops the controller and the host, keeps everything else. `up` goes on.

use cp9_model::lifecycle::Event;
use cp9_model::output::Target;
use cp9_model::report::PauseReport;
use cp9_model::{Category, Explain};
use cp9_tools::procs;
use thiserror::Error;

use super::{controller, status};
use crate::destroy::orphans;
use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Interrupted, Outcome};
use crate::folder::Folder;
use crate::host::{Host as _, ProcessHost};
use crate::session::LockedSession;
use crate::{select, session};

/// A process outlived the pause.
#[derive(Debug, Error)]
#[error("process {pid} (`{service}`) of session `{session}` cannot be ended")]
struct StillRunning {
    session: String,
    service: String,
    pid: u32,
}

impl Explain for StillRunning {
    fn category(&self) -> Category {
        Category::Resource
    }
    fn code(&self) -> &'static str {
        "pause-incomplete"
    }
    fn remedy(&self) -> Option<String> {
        Some(format!(
            "end it: `kill -9 {}`, then run `cp9 pause` again",
            self.pid
        ))
    }
}

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
    let before = living(&host);
    let doors = engine.doors.clone();
    tokio::select! {
        ended = stop(engine, &session.folder, &host) => ended?,
        () = doors.cancel.cancelled() => return Err(Interrupted::error(None, "pause")),
    }
    let strays = tokio::select! {
        ended = end_strays(engine, &session) => ended?,
        () = doors.cancel.cancelled() => return Err(Interrupted::error(None, "pause")),
    };
    let left = living(&host);
    if let Some((service, pid)) = left.first() {
        let (session, service, pid) = (session.folder.name.clone(), service.clone(), *pid);
        return Err(StillRunning {
            session,
            service,
            pid,
        }
        .into());
    }
    let ports = host.load()?.map(|facts| facts.ports).unwrap_or_default();
    let mut released: Vec<u16> = ports
        .values()
        .flat_map(|ports| ports.values().copied())
        .collect();
    released.retain(|port| procs::is_port_free(*port));
    released.sort_unstable();
    session.event(Event::Paused)?;
    crate::facts::retract(engine, &session.folder)?;
    status::touch(engine, &session.folder);
    let report = PauseReport {
        session: session.folder.name.clone(),
        stopped: u32::try_from(before.len())
            .unwrap_or(u32::MAX)
            .saturating_add(strays),
        released,
    };
    session.unlock();
    Ok(report)
}

async fn stop(engine: &Engine, folder: &Folder, host: &ProcessHost<'_>) -> Result<(), EngineError> {
    controller::stop(engine, folder).await?;
    host.stop().await?;
    Ok(())
}

/// Ends what left its service's process group and still carries the scope: it would keep a port.
async fn end_strays(engine: &Engine, session: &LockedSession) -> Result<u32, EngineError> {
    // A Terraform that is killed loses what it has made.
    let (folder, id) = (&session.folder, &session.state.id);
    crate::substrate::interrupt(engine, folder, id, "pause").await?;
    let (ended, left) = orphans::end(engine, &session.folder, session.state.scope()).await?;
    match left.first() {
        None => Ok(ended),
        Some(found) => Err(StillRunning {
            session: session.folder.name.clone(),
            service: found.name.clone(),
            pid: found.id.parse().unwrap_or_default(),
        }
        .into()),
    }
}

/// The services whose recorded process lives.
fn living(host: &ProcessHost<'_>) -> Vec<(String, u32)> {
    let children = host.children().into_iter();
    children
        .filter(|(_, id)| procs::is_alive(*id))
        .map(|(service, id)| (service, id.pid))
        .collect()
}
