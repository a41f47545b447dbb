//! What several checks look at, read once.

use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_model::Diagnostic;
use cp9_model::config::Loaded;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::control::ControllerStatus;
use cp9_model::output::Target;
use cp9_model::report::ControllerReport;
use cp9_tools::files::FileError;
use cp9_tools::procs::{self, ProcessFacts, ProcessId};
use cp9_tools::{LockInfo, lock};

use super::context_report::Report;
use crate::commands::controller;
use crate::commands::status::{self, NoSession, OnDisk};
use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::error::EngineError;
use crate::folder::Folder;
use crate::host::ProcessHost;
use crate::{run, select};

/// How long a controller may take to answer here; `status` waits longer.
const ANSWER: Duration = Duration::from_millis(500);

/// Why a session file is of no use.
pub(super) enum Broken {
    /// It cannot be read.
    Unread(FileError),
    /// It is wrong.
    Invalid(Vec<Diagnostic>),
}

/// The controller as it is now.
pub(super) struct Controlled {
    pub(super) status: Option<ControllerStatus>,
    pub(super) report: ControllerReport,
}

/// Everything that was read.
pub(crate) struct Context<'a> {
    pub(super) engine: &'a Engine,
    /// The user's folders; none without a home.
    pub(super) dirs: Option<Dirs>,
    /// The session file, there or not.
    pub(crate) file: Option<Utf8PathBuf>,
    /// What the session file says; none without one.
    pub(super) loaded: Option<Result<Loaded, Broken>>,
    /// The session folder, if there is one.
    pub(crate) folder: Option<Folder>,
    /// What the folder holds.
    pub(super) disk: Option<Result<OnDisk, EngineError>>,
    /// The context report of the last `up`.
    pub(super) report: Option<Report>,
    /// The processes of this user.
    pub(super) processes: Vec<ProcessFacts>,
    /// The controller of the session.
    pub(super) controlled: Option<Controlled>,
    /// The command that holds the session's lock now.
    pub(super) busy: Option<LockInfo>,
}

impl<'a> Context<'a> {
    /// Reads it. That there is no session is no error, unless one was named.
    pub(crate) async fn read(engine: &'a Engine, select: &Select) -> Result<Self, EngineError> {
        let (file, folder) = find(engine, select)?;
        let disk = folder
            .as_ref()
            .map(|folder| status::on_disk(engine, folder));
        let there = disk.as_ref().and_then(|disk| disk.as_ref().ok());
        let file = file.or_else(|| there.map(|disk| disk.state.file.as_str().into()));
        let controlled = match (&folder, there) {
            (Some(folder), Some(disk)) => Some(ask(engine, folder, disk).await),
            _ => None,
        };
        Ok(Self {
            loaded: file
                .as_ref()
                .filter(|file| engine.doors.exists(file))
                .map(|file| load(engine, file)),
            report: folder
                .as_ref()
                .and_then(|folder| Report::read(&engine.doors, folder)),
            busy: folder
                .as_ref()
                .and_then(|folder| lock::holder(&folder.lock())),
            dirs: Dirs::of(&engine.doors.env).ok(),
            processes: procs::scan(),
            engine,
            file,
            folder,
            disk,
            controlled,
        })
    }

    /// The session as its file says now, else as it was at the last `up`.
    pub(super) fn config(&self) -> Option<&ResolvedConfig> {
        let loaded = self.loaded.as_ref().and_then(|loaded| loaded.as_ref().ok());
        loaded
            .map(|loaded| &loaded.resolved)
            .or_else(|| self.disk()?.config.as_ref())
    }

    /// The same for a check that has nothing to do without one.
    pub(super) fn needs_config(&self) -> Result<&ResolvedConfig, String> {
        self.config()
            .ok_or_else(|| "no session file that could be read".to_owned())
    }

    /// What the folder holds, if its journal could be read.
    pub(super) fn disk(&self) -> Option<&OnDisk> {
        self.disk.as_ref()?.as_ref().ok()
    }

    /// Folder and content of the session, for a check that has nothing to do without one.
    pub(super) fn needs_session(&self) -> Result<(&Folder, &OnDisk), String> {
        self.folder
            .as_ref()
            .zip(self.disk())
            .ok_or_else(|| "no session".to_owned())
    }

    /// The context report, for a check that has nothing to do without one.
    pub(super) fn needs_report(&self) -> Result<&Report, String> {
        self.report
            .as_ref()
            .ok_or_else(|| "no context report before the first `up`".to_owned())
    }

    /// The services whose process lives, by what the controller recorded.
    pub(super) fn living(&self) -> Vec<(String, ProcessId)> {
        let Some(((folder, disk), dirs)) = self.needs_session().ok().zip(self.dirs.as_ref()) else {
            return Vec::new();
        };
        let host = ProcessHost {
            engine: self.engine,
            dirs,
            folder,
            id: &disk.state.id,
        };
        let mut children = host.children();
        children.retain(|(_, id)| {
            let mut there = self.processes.iter();
            there.any(|process| !process.zombie && process.id.is_same(*id))
        });
        children
    }

    /// The word for the controller's state; none without a session.
    pub(super) fn controller_state(&self) -> Option<&str> {
        Some(self.controlled.as_ref()?.report.state.as_str())
    }

    /// Who and where.
    pub(crate) fn target(&self) -> Target {
        match (self.disk(), self.config()) {
            (Some(disk), _) => status::target(disk),
            (None, Some(config)) => run::target(config, None),
            (None, None) => Target::default(),
        }
    }
}

fn find(
    engine: &Engine,
    select: &Select,
) -> Result<(Option<Utf8PathBuf>, Option<Folder>), EngineError> {
    let file = select::session_file(engine, select);
    let folder = match select::folder(engine, select) {
        Ok(folder) => Some(folder).filter(|folder| engine.doors.exists(&folder.root)),
        Err(error) if select.session.is_none() && is_none(&error) => None,
        Err(error) => return Err(error),
    };
    match (file, folder, &select.session) {
        (_, None, Some(name)) => Err(NoSession::Missing { name: name.clone() }.into()),
        (Err(error), None, None) if select.config.is_some() => Err(error),
        (file, folder, _) => Ok((file.ok(), folder)),
    }
}

/// There being no session, or a session file that is wrong, is for the checks to tell.
fn is_none(error: &EngineError) -> bool {
    matches!(
        error.source.code(),
        "session-unknown"
            | "session-file-missing"
            | "config-invalid"
            | "file-denied"
            | "file-failed"
            | "file-too-large"
    )
}

fn load(engine: &Engine, file: &camino::Utf8Path) -> Result<Loaded, Broken> {
    let bytes = engine.doors.read(file).map_err(Broken::Unread)?;
    cp9_model::config::load(file, &bytes).map_err(Broken::Invalid)
}

async fn ask(engine: &Engine, folder: &Folder, disk: &OnDisk) -> Controlled {
    let asked = tokio::time::timeout(ANSWER, status::ask(engine, folder, disk)).await;
    let (status, report) = asked.unwrap_or_else(|_| {
        let report = ControllerReport {
            kind: "embedded".into(),
            state: "unreachable".into(),
            pid: controller::holder(folder).map(|info| info.pid),
            hint: None,
        };
        (None, report)
    });
    Controlled { status, report }
}
