//! Waiting until every resource of a session is ready.

use std::time::Duration;

use cp9_model::control::ControllerStatus;

use super::status::{self, NoSession, OnDisk};
use crate::engine::Engine;
use crate::error::{EngineError, Interrupted};
use crate::folder::Folder;
use crate::settled;
use crate::states::session_ready::Verdict;

/// The pause between two looks for a controller that is being started.
const PAUSE: Duration = Duration::from_millis(50);

/// How a wait ended.
#[derive(Debug, Default)]
pub(super) struct Waited {
    /// The last state that the controller told.
    pub(super) last: Option<ControllerStatus>,
    /// Why not all is ready.
    pub(super) error: Option<EngineError>,
}

/// Follows the controller until every resource is ready, at most for `limit`.
pub(super) async fn ready(
    engine: &Engine,
    folder: &Folder,
    disk: &OnDisk,
    limit: Duration,
) -> Waited {
    let mut last = None;
    let error = follow(engine, folder, disk, limit, &mut last).await.err();
    Waited { last, error }
}

async fn follow(
    engine: &Engine,
    folder: &Folder,
    disk: &OnDisk,
    limit: Duration,
    last: &mut Option<ControllerStatus>,
) -> Result<(), EngineError> {
    let gone = || NoSession::NoController {
        name: folder.name.clone(),
    };
    let deadline = tokio::time::Instant::now() + limit;
    let client = loop {
        match status::client(engine, folder).await {
            Ok(client) => break client,
            // A run that holds the session may be about to start its controller.
            Err(_) if is_held(folder) && tokio::time::Instant::now() < deadline => {
                pause(engine).await?;
            }
            Err(_) => return Err(gone().into()),
        }
    };
    let mut watch = client.watch().await?;
    loop {
        let next = tokio::select! {
            next = tokio::time::timeout_at(deadline, watch.next()) => next,
            () = engine.doors.cancel.cancelled() => return Err(Interrupted::error(None, "status --wait")),
        };
        let Ok(next) = next else {
            let names = red(disk, last.as_ref());
            return Err(Verdict::Red {
                session: folder.name.clone(),
                names,
            }
            .into());
        };
        let status = last.insert(next?.ok_or_else(gone)?);
        if status.resources.iter().all(|resource| resource.ready) {
            return Ok(());
        }
    }
}

fn is_held(folder: &Folder) -> bool {
    cp9_tools::lock::holder(&folder.lock()).is_some()
}

async fn pause(engine: &Engine) -> Result<(), EngineError> {
    tokio::select! {
        () = tokio::time::sleep(PAUSE) => Ok(()),
        () = engine.doors.cancel.cancelled() => Err(Interrupted::error(None, "status --wait")),
    }
}

fn red(disk: &OnDisk, now: Option<&ControllerStatus>) -> String {
    let Some(graph) = &disk.graph else {
        return String::new();
    };
    let services = settled::services(graph, disk.plan.as_ref(), disk.host.as_ref(), now);
    let red = services
        .iter()
        .filter(|service| !service.ready)
        .map(|service| service.name.as_str());
    red.collect::<Vec<_>>().join(", ")
}
