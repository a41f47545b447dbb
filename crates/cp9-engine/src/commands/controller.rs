//! The hidden `cp9 controller serve --folder PATH`: the embedded controller's own process; and how other
//! commands stop it.

use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_cloud::CloudError;
use cp9_loop::Controller as _;
use cp9_loop::embedded::{self, Client, SessionFolderPaths};
use cp9_model::host::HostFacts;
use cp9_model::lifecycle::SessionState;
use cp9_model::scope::ENV_ID;
use cp9_tools::LockInfo;
use cp9_tools::procs::{self, ProcessId};

use super::status;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::lend;

/// How long a controller may take to stop its children and end.
const STOP_LIMIT: Duration = Duration::from_mins(1);
/// How long a controller gets that does not answer.
const GRACE: Duration = Duration::from_secs(10);

/// Serves a session until it is told to stop or is killed.
pub async fn serve(engine: &Engine, folder: Utf8PathBuf) -> Result<(), EngineError> {
    let name = folder.file_name().unwrap_or_default().to_owned();
    let folder = Folder { root: folder, name };
    let disk = status::on_disk(engine, &folder)?;
    let missing = || status::NoSession::Missing {
        name: folder.name.clone(),
    };
    let host: HostFacts = disk.host.ok_or_else(missing)?;
    engine
        .doors
        .recorder
        .to_file(folder.logs().join("calls.jsonl"));
    let scope = disk.state.scope();
    let lender = lend::lender(engine, &folder);
    let paths = SessionFolderPaths {
        folder: folder.root,
        socket: host.socket.into(),
    };
    Ok(embedded::serve(engine.doors.clone(), paths, scope, engine.version, lender).await?)
}

/// Stops the session's controller, with its children, whether it answers or not.
pub(crate) async fn stop(engine: &Engine, folder: &Folder) -> Result<bool, EngineError> {
    let Some(_) = holder(folder) else {
        return Ok(false);
    };
    let process = process(folder);
    if let Ok(client) = status::client(engine, folder).await {
        let asked = tokio::time::timeout(STOP_LIMIT, ask_to_stop(client)).await;
        if matches!(asked, Ok(Ok(()))) {
            wait_for_end(engine, folder, process).await;
        }
    }
    if let Some(id) = process.filter(|_| holder(folder).is_some()) {
        procs::stop(id, GRACE).await;
    }
    Ok(true)
}

async fn ask_to_stop(mut client: Client) -> Result<(), EngineError> {
    Ok(client.stop().await?)
}

/// Who holds the controller's lock: the controller, as long as it lives.
pub(crate) fn holder(folder: &Folder) -> Option<LockInfo> {
    cp9_tools::lock::holder(&folder.controller_lock())
}

/// The controller's process. The lock's words may be those of an earlier holder for a moment, so a process
/// counts only if it was started as this folder's controller.
pub(crate) fn process(folder: &Folder) -> Option<ProcessId> {
    let facts = procs::find(holder(folder)?.pid)?;
    let serves = |word: &str| facts.cmd.iter().any(|arg| arg == word);
    (serves("controller") && serves(folder.root.as_str())).then_some(facts.id)
}

/// After its answer the controller only has to end.
async fn wait_for_end(engine: &Engine, folder: &Folder, process: Option<ProcessId>) {
    let deadline = engine.doors.clock.instant() + GRACE;
    // A process lives a moment longer than its lock.
    let there = || holder(folder).is_some() || process.is_some_and(procs::is_alive);
    while there() && engine.doors.clock.instant() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A command that ends processes must not run inside what it ends.
pub(crate) fn refuse_inside(engine: &Engine, state: &SessionState) -> Result<(), EngineError> {
    if engine.doors.env.get(ENV_ID) == Some(state.id.as_str()) {
        return Err(CloudError::Inside {
            session: state.name.to_string(),
        }
        .into());
    }
    Ok(())
}
