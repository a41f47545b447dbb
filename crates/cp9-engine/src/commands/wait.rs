//! Waiting until every resource of a session is ready.

use std::time::Duration;

use cp9_model::control::ControllerStatus;

use super::status::{self, NoSession, OnDisk};
use crate::engine::Engine;
use crate::error::{EngineError, Interrupted};
use crate::folder::Folder;
use crate::settled;
use crate::states::session_ready::Verdict;

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
    let client = status::client(engine, folder).await.map_err(|_| gone())?;
    let mut watch = client.watch().await?;
    let deadline = tokio::time::Instant::now() + limit;
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
