//! How a run begins: the session file is read and everything refused that can be refused, then the folder
//! is made or entered and locked.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::{ResolvedConfig, TiltMode};
use cp9_model::lifecycle::SessionState;
use cp9_model::report::Progress;
use cp9_model::{Category, Explain, ServiceName};
use cp9_tools::FileLock;
use thiserror::Error;

use crate::commands::status;
use crate::commands::up::UpOptions;
use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Interrupted, invalid};
use crate::folder::Folder;
use crate::registry::Registry;
use crate::run::{Made, Mode, Run};
use crate::session::{LockedSession, SessionError};
use crate::{destroy, select, session};

/// How long the first verdicts may take where nobody says otherwise.
const LIMIT: Duration = Duration::from_mins(15);

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
            "if the project was moved, run `cp9 destroy --session {}` first; else choose another `name`",
            self.name
        ))
    }
}

/// A session file read and checked, before anything is written.
pub(crate) struct Checked {
    file: Utf8PathBuf,
    pub(crate) config: ResolvedConfig,
    secret_values: BTreeMap<ServiceName, BTreeMap<String, String>>,
    dirs: Dirs,
    folder: Folder,
}

/// Everything that can be refused without creating a thing.
pub(crate) fn check(
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
pub(crate) fn begin<'a>(
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
    destroy::ledger::renew(engine, &session.folder)?;
    destroy::record::forget(engine, &session.folder)?;
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
    let lock = lock(engine, &folder, command)?;
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

/// Takes the lock of a folder that is made if it is missing. A destroy may take the folder away between the
/// two; then it is made again.
fn lock(engine: &Engine, folder: &Folder, command: &str) -> Result<FileLock, EngineError> {
    let mut tries = 0;
    loop {
        engine.doors.create_private_dir(&folder.root)?;
        match session::lock(engine, folder, command) {
            Err(SessionError::Lock { .. }) if tries < 3 && !engine.doors.exists(&folder.root) => {
                tries += 1;
            }
            locked => return Ok(locked?),
        }
    }
}
