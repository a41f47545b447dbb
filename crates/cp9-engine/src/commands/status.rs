//! `cp9 status`: the states, the services, the controller. Reads only; takes no lock.

use std::time::Duration;

use cp9_cloud::aws::AwsProof;
use cp9_loop::Controller as _;
use cp9_loop::embedded::{Client, glance};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::control::ControllerStatus;
use cp9_model::devplan::DevPlan;
use cp9_model::graph::ServiceGraph;
use cp9_model::host::HostFacts;
use cp9_model::lifecycle::{SessionState, StateEntry, StateName};
use cp9_model::output::Target;
use cp9_model::report::{ControllerReport, ServiceReport, StateReport, StatusReport};
use cp9_model::yaml::{self, Options};
use cp9_model::{Category, ExitCode, Explain};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{controller, wait};
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome};
use crate::folder::Folder;
use crate::host::ChildRecord;
use crate::identity::Identity;
use crate::{identity, run, select, session, settled};

/// How `status` behaves.
#[derive(Debug, Clone, Default)]
pub struct StatusOptions {
    /// Which session.
    pub select: Select,
    /// Wait until every service is ready, at most this long.
    pub wait: Option<Duration>,
}

/// There is no such session, or not far enough.
#[derive(Debug, Error)]
pub(crate) enum NoSession {
    /// Nothing there.
    #[error("session `{name}` does not exist")]
    Missing {
        /// Its name.
        name: String,
    },
    /// The controller that would have to answer does not run.
    #[error("the controller of session `{name}` does not run")]
    NoController {
        /// The session.
        name: String,
    },
}

impl Explain for NoSession {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "session-unknown",
            Self::NoController { .. } => "controller-not-running",
        }
    }
    fn exit(&self) -> ExitCode {
        match self {
            Self::Missing { .. } => ExitCode::Config,
            Self::NoController { .. } => ExitCode::Verdict,
        }
    }
    fn remedy(&self) -> Option<String> {
        Some("begin it, or go on with it: `cp9 up`".into())
    }
}

/// What is on disk of a session.
pub(crate) struct OnDisk {
    pub(crate) state: SessionState,
    pub(crate) config: Option<ResolvedConfig>,
    pub(crate) host: Option<HostFacts>,
    pub(crate) graph: Option<ServiceGraph>,
    pub(crate) plan: Option<DevPlan>,
    /// What was last proven of an identity.
    pub(crate) identity: Option<Identity>,
}

/// Reads what a session has on disk. Files that do not exist yet, or cannot be read, are none.
pub(crate) fn on_disk(engine: &Engine, folder: &Folder) -> Result<OnDisk, EngineError> {
    let state = session::load(&engine.doors, folder)?.ok_or_else(|| NoSession::Missing {
        name: folder.name.clone(),
    })?;
    Ok(OnDisk {
        state,
        config: config(engine, folder),
        host: json(engine, &folder.host()),
        graph: json(engine, &folder.graph()),
        plan: json(engine, &folder.dev_plan()),
        identity: identity::recorded(engine, folder),
    })
}

/// The folder id that the host's facts carry.
pub(crate) fn host_id(engine: &Engine, folder: &Folder) -> Option<String> {
    json::<HostFacts>(engine, &folder.host()).map(|facts| facts.id)
}

fn json<T: DeserializeOwned>(engine: &Engine, path: &camino::Utf8Path) -> Option<T> {
    serde_json::from_slice(&engine.doors.read(path).ok()?).ok()
}

/// The resolved session file as it was at the last `up`.
pub(crate) fn config(engine: &Engine, folder: &Folder) -> Option<ResolvedConfig> {
    let text = engine.doors.read_text(&folder.resolved()).ok()?;
    let documents = yaml::parse_bytes(
        folder.resolved().as_str(),
        text.as_bytes(),
        Options::config(),
    )
    .ok()?;
    serde_json::from_value(documents.first()?.root.to_json()).ok()
}

/// Tells how a session is.
pub async fn status(engine: &Engine, options: StatusOptions) -> Outcome<StatusReport> {
    let (folder, disk) = match find(engine, &options.select) {
        Ok(found) => found,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    // Asking is a use too, but the answer is about the time before.
    let last_active = engine.doors.modified(&folder.last_active());
    touch(engine, &folder);
    let target = target(&disk);
    let waited = match options.wait {
        Some(limit) => wait::ready(engine, &folder, &disk, limit).await,
        None => wait::Waited::default(),
    };
    // What was waited for has changed what is on disk.
    let disk = if options.wait.is_some() {
        on_disk(engine, &folder).unwrap_or(disk)
    } else {
        disk
    };
    let (now, controller) = ask(engine, &folder, &disk).await;
    let (now, error) = (now.or(waited.last), waited.error);
    let report = report(
        engine,
        &folder,
        &disk,
        last_active,
        now.as_ref(),
        controller,
    );
    Outcome {
        report: Some(report),
        error,
        target,
    }
}

fn find(engine: &Engine, select: &Select) -> Result<(Folder, OnDisk), EngineError> {
    let folder = select::folder(engine, select)?;
    let disk = on_disk(engine, &folder)?;
    Ok((folder, disk))
}

/// Who and where, from what is on disk.
pub(crate) fn target(disk: &OnDisk) -> Target {
    let owner = disk.state.owner.as_ref();
    let plain = || Target {
        owner: owner.map(ToString::to_string),
        session: Some(disk.state.name.to_string()),
        ..Target::default()
    };
    let target = disk.config.as_ref();
    let target = target.map_or_else(plain, |config| run::target(config, owner));
    Target {
        account: proof(disk).map(|proof| proof.account.clone()),
        ..target
    }
}

fn proof(disk: &OnDisk) -> Option<&AwsProof> {
    Some(&disk.identity.as_ref()?.aws)
}

fn report(
    engine: &Engine,
    folder: &Folder,
    disk: &OnDisk,
    last_active: Option<Timestamp>,
    now: Option<&ControllerStatus>,
    controller: ControllerReport,
) -> StatusReport {
    let ttl = disk
        .config
        .as_ref()
        .and_then(|config| config.host.ttl_seconds);
    let expires_in = last_active.zip(ttl).map(|(at, ttl)| {
        i64::try_from(ttl)
            .unwrap_or(i64::MAX)
            .saturating_sub(engine.doors.clock.now().duration_since(at).as_secs())
    });
    StatusReport {
        session: folder.name.clone(),
        owner: disk
            .state
            .owner
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        folder: folder.root.to_string(),
        identity: proof(disk).map(|proof| identity::report(engine, folder, proof)),
        states: states(&disk.state),
        services: services(engine, folder, disk, now),
        controller,
        last_active: last_active.map(|at| at.to_string()),
        expires_in,
    }
}

/// The services; without a controller their recorded children still show which processes live.
fn services(
    engine: &Engine,
    folder: &Folder,
    disk: &OnDisk,
    now: Option<&ControllerStatus>,
) -> Vec<ServiceReport> {
    let Some(graph) = &disk.graph else {
        return Vec::new();
    };
    let mut services = settled::services(graph, disk.plan.as_ref(), disk.host.as_ref(), now);
    for service in &mut services {
        match (now, &disk.plan) {
            (Some(now), Some(plan)) => {
                service.generation = glance(&engine.doors, plan, &service.name, now);
            }
            (Some(_), None) => {}
            (None, _) => service.pid = child(engine, folder, &service.name),
        }
    }
    services
}

fn child(engine: &Engine, folder: &Folder, service: &str) -> Option<u32> {
    let record: ChildRecord = json(engine, &folder.join(&format!("run/{service}/child.json")))?;
    let id = cp9_tools::ProcessId {
        pid: record.pid,
        start_time: record.start_time,
    };
    cp9_tools::procs::is_alive(id).then_some(record.pid)
}

/// Asks the controller, if it runs.
pub(crate) async fn ask(
    engine: &Engine,
    folder: &Folder,
    disk: &OnDisk,
) -> (Option<ControllerStatus>, ControllerReport) {
    let now = match client(engine, folder).await {
        Ok(mut client) => client
            .status()
            .await
            .ok()
            .filter(|status| status.hello.id == disk.state.id),
        Err(_) => None,
    };
    let holder = controller::holder(folder);
    let (state, pid) = match (&now, holder) {
        (Some(status), _) => ("running", Some(status.hello.pid)),
        (None, Some(info)) => ("unreachable", Some(info.pid)),
        (None, None) if expected(&disk.state) => ("dead", None),
        (None, None) => ("stopped", None),
    };
    let up = format!("cp9 up --config {}", super::quote(&disk.state.file));
    let hint = match state {
        "dead" => Some(format!(
            "it was killed; `{up}` starts it again and takes the services over"
        )),
        "unreachable" => Some(format!(
            "see {}, or `cp9 pause` and `cp9 up`",
            folder.logs().join("controller.log")
        )),
        "stopped" if disk.state.paused => Some(format!("paused; `{up}` resumes it")),
        "stopped" => Some(format!("`{up}` starts it")),
        _ => None,
    };
    (
        now,
        ControllerReport {
            kind: "embedded".into(),
            state: state.into(),
            pid,
            hint,
        },
    )
}

/// True when the journal says that a controller was started and nobody stopped it.
fn expected(state: &SessionState) -> bool {
    let entry = state.entry(StateName::TiltReady);
    let handed_over = entry
        .evidence
        .iter()
        .any(|line| line.starts_with("handoff"));
    !state.paused && entry.status.is_settled() && !handed_over
}

/// A connection to the session's controller.
pub(crate) async fn client(engine: &Engine, folder: &Folder) -> Result<Client, EngineError> {
    let host = host(engine, folder)?;
    Ok(Client::connect(host.socket.as_str().into(), &host.id).await?)
}

/// A connection to the controller of the session with this id.
pub(crate) async fn client_of(
    engine: &Engine,
    folder: &Folder,
    id: &str,
) -> Result<Client, EngineError> {
    let host = host(engine, folder)?;
    Ok(Client::connect(host.socket.as_str().into(), id).await?)
}

fn host(engine: &Engine, folder: &Folder) -> Result<HostFacts, NoSession> {
    json(engine, &folder.host()).ok_or_else(|| NoSession::NoController {
        name: folder.name.clone(),
    })
}

/// The states as reports show them.
pub(crate) fn states(state: &SessionState) -> Vec<StateReport> {
    let reports = state.states.iter().map(|(name, entry)| StateReport {
        name: name.to_string(),
        status: entry.status.word().to_owned(),
        seconds: seconds(entry),
        message: entry
            .error
            .as_ref()
            .map(|error| error.message.clone())
            .or_else(|| entry.reason.clone()),
    });
    reports.collect()
}

/// How long a state's last attempt took.
pub(crate) fn seconds(entry: &StateEntry) -> Option<f64> {
    let (started, finished) = (entry.started?, entry.finished?);
    Some(finished.duration_since(started).as_millis_f64() / 1000.0)
}

/// Notes that the session was used; its age counts from here. A failure is no reason to fail a command.
pub(crate) fn touch(engine: &Engine, folder: &Folder) {
    if engine.doors.exists(&folder.root) {
        let _ = engine.doors.touch(&folder.last_active());
    }
}
