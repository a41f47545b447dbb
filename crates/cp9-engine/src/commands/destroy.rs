//! `cp9 destroy`: controller, host, substrate, reaper, post-scan; exit 0 only when nothing is left.

use cp9_model::output::Target;
use cp9_model::report::{DestroyReport, Progress};
use cp9_model::{Category, ExitCode, Explain, Owner, Scope};
use thiserror::Error;

use super::{controller, status};
use crate::commands::status::NoSession;
use crate::destroy::{Destroy, orphans, process_survivor, record};
use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Interrupted, Outcome};
use crate::folder::Folder;
use crate::registry::Registry;
use crate::session::SessionError;
use crate::{select, session};

/// How `destroy` behaves.
#[derive(Debug, Clone, Default)]
pub struct DestroyOptions {
    /// Which session.
    pub select: Select,
    /// Run Stage 1 again although it is marked done.
    pub force: bool,
    /// Ask nothing.
    pub yes: bool,
}

/// Something is still there.
#[derive(Debug, Error)]
#[error("{count} of session `{session}` survived", count = things(*.count))]
struct Survived {
    session: String,
    count: usize,
}

fn things(count: usize) -> String {
    if count == 1 {
        "1 thing".into()
    } else {
        format!("{count} things")
    }
}

impl Explain for Survived {
    fn category(&self) -> Category {
        Category::Resource
    }
    fn code(&self) -> &'static str {
        "survivors"
    }
    fn exit(&self) -> ExitCode {
        ExitCode::Survivors
    }
    fn remedy(&self) -> Option<String> {
        Some(format!(
            "run `cp9 destroy --session {}` again",
            self.session
        ))
    }
}

/// Destroys a session. On the `local` cloud nothing is asked.
pub async fn destroy(
    engine: &Engine,
    options: DestroyOptions,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<DestroyReport> {
    let folder = match select::folder(engine, &options.select) {
        Ok(folder) => folder,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let target = status::on_disk(engine, &folder)
        .map(|disk| status::target(&disk))
        .unwrap_or_default();
    match destroy_folder(engine, &options, folder, progress).await {
        Ok((report, error)) => {
            let error = error.or_else(|| survived(&report));
            Outcome {
                report: Some(report),
                error,
                target,
            }
        }
        Err(error) => Outcome::failed(error, target),
    }
}

fn survived(report: &DestroyReport) -> Option<EngineError> {
    let count = report.survivors.len();
    (count > 0).then(|| {
        Survived {
            session: report.session.clone(),
            count,
        }
        .into()
    })
}

async fn destroy_folder(
    engine: &Engine,
    options: &DestroyOptions,
    folder: Folder,
    progress: &mut dyn FnMut(Progress),
) -> Result<(DestroyReport, Option<EngineError>), EngineError> {
    // What cannot be removed now is tried again at the end, where it counts.
    let _ = record::sweep(engine, &folder);
    if !engine.doors.exists(&folder.root) {
        return Ok((without_folder(engine, &folder).await?, None));
    }
    let lock = match session::lock(engine, &folder, "destroy") {
        // Another destroy has just taken the folder away.
        Err(SessionError::Lock { .. }) if !engine.doors.exists(&folder.root) => {
            return Ok((without_folder(engine, &folder).await?, None));
        }
        locked => locked?,
    };
    let scope = scope(engine, &folder, options.force)?;
    let config = status::config(engine, &folder);
    let mut destroy = Destroy::new(engine, folder, scope, config, options.force, progress)?;
    let doors = engine.doors.clone();
    let unbroken = destroy.unbroken();
    let cancelled = async {
        doors.cancel.cancelled().await;
        // Terraform is asked to end and writes its state last.
        drop(unbroken.lock().await);
    };
    let ended = tokio::select! {
        ended = destroy.run() => ended,
        () = cancelled => return Err(Interrupted::error(None, "destroy")),
    };
    drop(lock);
    Ok(ended)
}

/// Whose the folder is. A journal that was never written leaves what the host's facts and the registry
/// know; so does one that is beyond reading if the registry knows the folder, or with `--force`.
fn scope(engine: &Engine, folder: &Folder, force: bool) -> Result<Scope, EngineError> {
    let dirs = Dirs::of(&engine.doors.env)?;
    let recorded = orphans::recorded(engine, &dirs, folder, None);
    let state = match session::load(&engine.doors, folder) {
        Err(error) if force || (recorded.is_some() && error.is_damaged()) => None,
        loaded => loaded?,
    };
    let session = folder.name.parse()?;
    if let Some(state) = state {
        session::refuse_copy(&engine.doors, folder, &state)?;
        controller::refuse_inside(engine, &state)?;
        return Ok(state.scope());
    }
    let id = status::host_id(engine, folder);
    let unknown = || Scope {
        owner: Owner::new(Owner::LOCAL),
        session,
        id: id.unwrap_or_else(|| "unknown".to_owned()),
    };
    Ok(recorded.unwrap_or_else(unknown))
}

/// A session whose folder is gone: destroyed before, or removed by hand. What of it still runs is ended.
async fn without_folder(engine: &Engine, folder: &Folder) -> Result<DestroyReport, EngineError> {
    let dirs = Dirs::of(&engine.doors.env)?;
    let record = record::scope(engine, folder);
    let already = record.is_some();
    let scopes: Vec<Scope> = record
        .into_iter()
        .chain(orphans::recorded(engine, &dirs, folder, None))
        .collect();
    if scopes.is_empty() {
        return Err(NoSession::Missing {
            name: folder.name.clone(),
        }
        .into());
    }
    let mut survivors = Vec::new();
    for scope in scopes {
        let (_, left) = orphans::end(engine, folder, scope).await?;
        survivors.extend(left.iter().map(process_survivor));
    }
    if survivors.is_empty() {
        Registry::new(&engine.doors, &dirs)
            .release(engine, folder, None)
            .await?;
    }
    let record = already.then(|| folder.destroy_record().into_string());
    Ok(DestroyReport {
        session: folder.name.clone(),
        already,
        survivors,
        record,
        ..DestroyReport::default()
    })
}
