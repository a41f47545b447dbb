//! `cp9 up`: the states in order, then the controller.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::{ResolvedConfig, TiltMode};
use cp9_model::lifecycle::SessionState;
use cp9_model::output::Target;
use cp9_model::report::{Progress, StateReport, UpReport};
use cp9_model::{Category, Explain, ServiceName};
use thiserror::Error;

use super::status;
use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Interrupted, Outcome, invalid};
use crate::folder::Folder;
use crate::registry::Registry;
use crate::run::{Made, Mode, Run};
use crate::session::LockedSession;
use crate::states::session_ready::Verdict;
use crate::{drive, run, select, session, settled, states};

/// How long the first verdicts may take where nobody says otherwise.
const LIMIT: Duration = Duration::from_mins(15);

/// How `up` behaves.
#[derive(Debug, Clone, Default)]
pub struct UpOptions {
    /// Which session.
    pub select: Select,
    /// Do not start the controller; print the command that does.
    pub no_tilt: bool,
    /// Fail fast, with the result as exit code.
    pub ci: bool,
    /// Overall limit of the wait for the first verdicts.
    pub timeout: Option<Duration>,
}

/// The session file was given another name while its session lives.
#[derive(Debug, Error)]
#[error("session file `{file}` says `{now}`, and its session `{was}` still lives")]
struct Renamed {
    file: Utf8PathBuf,
    was: String,
    now: String,
}

impl Explain for Renamed {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "session-renamed"
    }
    fn remedy(&self) -> Option<String> {
        Some(format!(
            "set `name: {}` again, or run `cp9 destroy --session {}` first",
            self.was, self.was
        ))
    }
}

/// The folder belongs to another session file.
#[derive(Debug, Error)]
#[error("session `{name}` came from `{was}`, not from `{now}`")]
struct OtherFile {
    name: String,
    was: String,
    now: Utf8PathBuf,
}

impl Explain for OtherFile {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "session-of-other-file"
    }
    fn remedy(&self) -> Option<String> {
        Some(format!(
            "choose another `name`, or run `cp9 destroy --session {}` first",
            self.name
        ))
    }
}

/// A session file read and checked, before anything is written.
struct Checked {
    file: Utf8PathBuf,
    config: ResolvedConfig,
    secret_values: BTreeMap<ServiceName, BTreeMap<String, String>>,
    dirs: Dirs,
    folder: Folder,
}

/// Brings a session up.
pub async fn up(
    engine: &Engine,
    options: UpOptions,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<UpReport> {
    let checked = match check(engine, &options.select, progress) {
        Ok(checked) => checked,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let target = run::target(&checked.config, None);
    match begin(engine, &options, "up", checked, progress) {
        Ok(run) => bring_up(run).await,
        Err(error) => Outcome::failed(error, target),
    }
}

/// Brings an existing session in line with its session file for `deploy`, by the same states.
pub(super) async fn renew(
    engine: &Engine,
    select: Select,
    limit: Duration,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), EngineError> {
    let checked = check(engine, &select, progress)?;
    let options = UpOptions {
        select,
        timeout: Some(limit),
        ..UpOptions::default()
    };
    let mut run = begin(engine, &options, "deploy", checked, progress)?;
    run.mode.fail_fast = false;
    let driven = drive::drive(&mut run).await;
    run.session.unlock();
    driven
}

/// What the session file says now.
pub(super) fn resolved(engine: &Engine, select: &Select) -> Result<ResolvedConfig, EngineError> {
    // Its warnings were told by `up`.
    check(engine, select, &mut |_| {}).map(|checked| checked.config)
}

/// Everything that can be refused without creating a thing.
fn check(
    engine: &Engine,
    select: &Select,
    progress: &mut dyn FnMut(Progress),
) -> Result<Checked, EngineError> {
    let file = select::session_file(engine, select)?;
    let bytes = engine.doors.read(&file)?;
    let loaded =
        cp9_model::config::load(&file, &bytes).map_err(|problems| invalid(&file, problems))?;
    for warning in &loaded.warnings {
        progress(Progress::Note {
            text: format!("{}\n{}", warning.message, warning.snippet),
        });
    }
    let dirs = Dirs::of(&engine.doors.env)?;
    let folder = Folder::beside(&file, loaded.resolved.name.as_str());
    let name = loaded.resolved.name.to_string();
    if let Some(other) = select::from_file(&engine.doors, &file)
        .into_iter()
        .find(|other| other.name != name)
    {
        return Err(Renamed {
            file,
            was: other.name,
            now: name,
        }
        .into());
    }
    Registry::new(&engine.doors, &dirs).check(&folder)?;
    if engine.doors.cancel.is_cancelled() {
        return Err(Interrupted::error(None, "up"));
    }
    for value in loaded.secret_values.values().flat_map(BTreeMap::values) {
        engine
            .doors
            .redactor
            .add(&cp9_tools::Secret::new(value.clone()));
    }
    Ok(Checked {
        file,
        config: loaded.resolved,
        secret_values: loaded.secret_values,
        dirs,
        folder,
    })
}

/// Makes or enters the folder, takes the lock and reads the journal.
fn begin<'a>(
    engine: &'a Engine,
    options: &UpOptions,
    command: &str,
    checked: Checked,
    progress: &'a mut dyn FnMut(Progress),
) -> Result<Run<'a>, EngineError> {
    let Checked {
        file,
        config,
        secret_values,
        dirs,
        folder,
    } = checked;
    let session = enter(engine, &file, &config, command, folder)?;
    engine.doors.create_private_dir(&session.folder.logs())?;
    engine.doors.remove_tree(&session.folder.destroy())?;
    engine
        .doors
        .recorder
        .to_file(session.folder.logs().join("calls.jsonl"));
    status::touch(engine, &session.folder);
    let mode = Mode {
        generate_only: options.no_tilt || config.tilt.mode == TiltMode::GenerateOnly,
        fail_fast: options.ci || config.tilt.mode == TiltMode::Ci,
        limit: options.timeout.unwrap_or(LIMIT),
    };
    Ok(Run {
        engine,
        dirs,
        config,
        secret_values,
        mode,
        session,
        progress,
        made: Made::default(),
    })
}

fn enter(
    engine: &Engine,
    file: &Utf8Path,
    config: &ResolvedConfig,
    command: &str,
    folder: Folder,
) -> Result<LockedSession, EngineError> {
    engine.doors.create_private_dir(&folder.root)?;
    let lock = session::lock(engine, &folder, command)?;
    if let Some(state) = session::load(&engine.doors, &folder)? {
        session::refuse_copy(&engine.doors, &folder, &state)?;
        if state.file != file.as_str() {
            return Err(OtherFile {
                name: folder.name,
                was: state.file,
                now: file.to_owned(),
            }
            .into());
        }
        return Ok(LockedSession::new(
            engine.doors.clone(),
            folder,
            lock,
            state,
        ));
    }
    let id = uuid::Uuid::new_v4().simple().to_string();
    let state = SessionState::new(
        id,
        config.name.clone(),
        file.to_string(),
        engine.doors.clock.now(),
    );
    let session = LockedSession::new(engine.doors.clone(), folder, lock, state);
    session.save()?;
    Ok(session)
}

async fn bring_up(mut run: Run<'_>) -> Outcome<UpReport> {
    let driven = drive::drive(&mut run).await;
    let report = report(&run);
    let target = run.target();
    let error = driven
        .err()
        .or_else(|| verdict(&run, &report).map(EngineError::from));
    run.session.unlock();
    Outcome {
        report: Some(report),
        error,
        target,
    }
}

fn verdict(run: &Run<'_>, report: &UpReport) -> Option<Verdict> {
    if run.mode.generate_only {
        return None;
    }
    let red: Vec<&str> = report
        .services
        .iter()
        .filter(|service| !service.ready)
        .map(|service| service.name.as_str())
        .collect();
    (!red.is_empty()).then(|| Verdict::Red {
        session: report.session.clone(),
        names: red.join(", "),
    })
}

fn report(run: &Run<'_>) -> UpReport {
    let made = &run.made;
    let services = made.graph.as_ref().map(|graph| {
        settled::services(
            graph,
            made.plan.as_ref(),
            made.host.as_ref(),
            made.status.as_ref(),
        )
    });
    let states = status::states(&run.session.state)
        .into_iter()
        .map(|state| mark_kept(state, run))
        .collect();
    UpReport {
        session: run.session.folder.name.clone(),
        owner: run
            .session
            .state
            .owner
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        folder: run.session.folder.root.to_string(),
        states,
        services: services.unwrap_or_default(),
        handoff: run.mode.generate_only.then(|| states::handoff(run)),
    }
}

fn mark_kept(mut state: StateReport, run: &Run<'_>) -> StateReport {
    if run.made.kept.iter().any(|kept| kept.as_str() == state.name) {
        "kept".clone_into(&mut state.status);
    }
    state
}

/// Follows a ready session until cancelled; detaches, never stops it.
pub async fn attach(
    engine: &Engine,
    select: &Select,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<UpReport> {
    let followed = follow(engine, select, progress).await;
    Outcome {
        report: None,
        error: followed.err(),
        target: Target::default(),
    }
}

async fn follow(
    engine: &Engine,
    select: &Select,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), EngineError> {
    let folder = select::folder(engine, select)?;
    let client = status::client(engine, &folder).await?;
    let mut watch = client.watch().await?;
    let mut last = None;
    loop {
        let next = tokio::select! {
            next = watch.next() => next?,
            () = engine.doors.cancel.cancelled() => return Ok(()),
        };
        // The session was paused or destroyed by someone else: there is nothing left to follow.
        let Some(next) = next else { return Ok(()) };
        for resource in &next.resources {
            let known = last
                .as_ref()
                .is_some_and(|last: &Vec<_>| last.contains(resource));
            if !known {
                progress(Progress::Resource(Box::new(resource.clone())));
            }
        }
        last = Some(next.resources);
    }
}
