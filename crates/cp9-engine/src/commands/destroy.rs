//! `cp9 destroy`: controller, host, substrate, reaper, post-scan; exit 0 only when nothing is left.

use cp9_model::output::Target;
use cp9_model::report::{DestroyReport, Progress};
use cp9_model::{Category, ExitCode, Explain};
use thiserror::Error;

use super::{controller, status};
use crate::destroy::{Destroy, record};
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Interrupted, Outcome};
use crate::folder::Folder;
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
        Ok(report) => {
            let survived = Survived {
                session: report.session.clone(),
                count: report.survivors.len(),
            };
            let error = (!report.survivors.is_empty()).then(|| survived.into());
            Outcome {
                report: Some(report),
                error,
                target,
            }
        }
        Err(error) => Outcome::failed(error, target),
    }
}

async fn destroy_folder(
    engine: &Engine,
    options: &DestroyOptions,
    folder: Folder,
    progress: &mut dyn FnMut(Progress),
) -> Result<DestroyReport, EngineError> {
    record::sweep(engine, &folder)?;
    if !engine.doors.exists(&folder.root) {
        return record::already(engine, &folder);
    }
    let state = match session::load(&engine.doors, &folder) {
        Ok(state) => state,
        Err(_) if options.force => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(state) = &state {
        session::refuse_copy(&engine.doors, &folder, state)?;
        controller::refuse_inside(engine, state)?;
    }
    let lock = session::lock(engine, &folder, "destroy")?;
    let mut destroy = Destroy::new(engine, folder, state, options.force, progress)?;
    let doors = engine.doors.clone();
    let report = tokio::select! {
        report = destroy.run() => report?,
        () = doors.cancel.cancelled() => return Err(Interrupted::error(None, "destroy")),
    };
    drop(lock);
    Ok(report)
}
