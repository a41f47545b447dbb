//! `cp9 deploy <svc>`: build, swap, wait, and prove that what runs was made from the files on disk.

use std::time::Duration;

use cp9_model::config::{self, resolved::TiltMode};
use cp9_model::generation::Generation;
use cp9_model::graph::{ServiceKind, ServiceNode};
use cp9_model::output::Target;
use cp9_model::report::{DeployReport, Progress, ServiceReport};
use tokio::time::Instant;

use super::status::{self, OnDisk};
use super::{quote, up};
use crate::deploy::{Deploy, DeployError, Followed, Steps};
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome};
use crate::folder::Folder;
use crate::{select, session, settled};

/// How long a deploy may take where nobody says otherwise.
const LIMIT: Duration = Duration::from_mins(15);

/// What to deploy.
#[derive(Debug, Clone, Default)]
pub struct DeployOptions {
    /// Which session.
    pub select: Select,
    /// The service.
    pub service: String,
    /// Overall limit.
    pub timeout: Option<Duration>,
}

/// A deploy that may begin.
struct Begun {
    folder: Folder,
    disk: OnDisk,
    node: ServiceNode,
}

/// Deploys one service.
pub async fn deploy(
    engine: &Engine,
    options: DeployOptions,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<DeployReport> {
    let found = select::folder(engine, &options.select)
        .and_then(|folder| status::on_disk(engine, &folder).map(|disk| (folder, disk)));
    let (folder, disk) = match found {
        Ok(found) => found,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    status::touch(engine, &folder);
    let target = status::target(&disk);
    match begin(engine, folder, disk, &options.service) {
        Ok(begun) => Box::pin(run(engine, &options, begun, target, progress)).await,
        Err(error) => Outcome::failed(error, target),
    }
}

/// Everything that is refused before anything is done.
fn begin(
    engine: &Engine,
    folder: Folder,
    disk: OnDisk,
    service: &str,
) -> Result<Begun, EngineError> {
    session::refuse_copy(&engine.doors, &folder, &disk.state)?;
    let session = folder.name.clone();
    if disk.state.paused {
        return Err(DeployError::Paused { session }.into());
    }
    if let Some(state) = disk.state.first_unsettled()
        && !disk.state.was_ready()
    {
        let status = disk.state.entry(state).status.word();
        return Err(DeployError::NotReady {
            session,
            state,
            status,
        }
        .into());
    }
    let services = disk.graph.iter().flat_map(|graph| &graph.services);
    let known: Vec<&ServiceNode> = services.collect();
    if let Some(node) = known.iter().find(|node| node.name.as_str() == service) {
        let node = (*node).clone();
        return Ok(Begun { folder, disk, node });
    }
    let known: Vec<&str> = known.iter().map(|node| node.name.as_str()).collect();
    Err(DeployError::NoService {
        session,
        service: service.to_owned(),
        known: known.join(", "),
    }
    .into())
}

async fn run(
    engine: &Engine,
    options: &DeployOptions,
    begun: Begun,
    target: Target,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<DeployReport> {
    let limit = options.timeout.unwrap_or(LIMIT);
    let deadline = Instant::now() + limit;
    let mut steps = Steps::new(&engine.doors.clock);
    let controller = controller(engine, &begun, limit, progress).await;
    let (disk, followed) = match controller {
        Ok((disk, did)) => {
            steps.end(if did.is_some() { "done" } else { "kept" }, did);
            let deploy = Deploy {
                engine,
                folder: &begun.folder,
                service: &options.service,
                limit,
                deadline,
                steps: &mut steps,
                progress,
            };
            let followed = follow(deploy, &disk).await;
            (disk, followed)
        }
        Err(error) => (begun.disk, Followed::failed(error)),
    };
    let Followed {
        last,
        generation,
        error,
    } = followed;
    steps.end(
        if error.is_none() { "done" } else { "failed" },
        error.as_ref().map(EngineError::told),
    );
    let services = disk.graph.as_ref().map(|graph| {
        settled::services(graph, disk.plan.as_ref(), disk.host.as_ref(), last.as_ref())
    });
    let own = services
        .into_iter()
        .flatten()
        .find(|service| service.name == options.service);
    Outcome {
        report: Some(report(&begun.folder, &begun.node, own, generation, steps)),
        error,
        target,
    }
}

fn report(
    folder: &Folder,
    node: &ServiceNode,
    own: Option<ServiceReport>,
    generation: Option<Generation>,
    steps: Steps,
) -> DeployReport {
    let (steps, seconds) = steps.finish();
    DeployReport {
        session: folder.name.clone(),
        service: node.name.to_string(),
        kind: node.kind,
        steps,
        ready: own.as_ref().is_some_and(|service| service.ready),
        pid: own.as_ref().and_then(|service| service.pid),
        endpoint: own.and_then(|service| service.endpoint),
        generation,
        seconds,
    }
}

async fn follow(deploy: Deploy<'_>, disk: &OnDisk) -> Followed {
    match disk.plan.clone() {
        Some(plan) => deploy.follow(plan).await,
        None => Followed::failed(
            DeployError::NotPlanned {
                session: deploy.folder.name.clone(),
                service: deploy.service.to_owned(),
            }
            .into(),
        ),
    }
}

/// Makes sure that the controller runs the plan of the session file. Only a controller that does
/// not run, or a plan that may have changed or was not taken over last time, needs the states, and with
/// them the lock. Returns what is on disk now, and what was done.
async fn controller(
    engine: &Engine,
    begun: &Begun,
    limit: Duration,
    progress: &mut dyn FnMut(Progress),
) -> Result<(OnDisk, Option<String>), EngineError> {
    let Begun { folder, disk, node } = begun;
    let select = Select {
        config: Some(disk.state.file.as_str().into()),
        session: None,
    };
    let runs = status::client(engine, folder).await.is_ok();
    if !runs {
        refuse_handed_over(engine, folder, disk)?;
    }
    let did = if !runs {
        "restarted"
    } else if node.kind != ServiceKind::Source
        || disk.state.first_unsettled().is_some()
        || changed(engine, folder, &select)?
    {
        "plan taken over"
    } else {
        return Ok((status::on_disk(engine, folder)?, None));
    };
    up::renew(engine, select, limit, progress).await?;
    Ok((status::on_disk(engine, folder)?, Some(did.to_owned())))
}

/// True when the session file says something else than at the last `up`.
fn changed(engine: &Engine, folder: &Folder, select: &Select) -> Result<bool, EngineError> {
    let file = select.config.as_ref();
    if file.is_none_or(|file| !engine.doors.exists(file)) {
        return Ok(false);
    }
    let resolved = up::resolved(engine, select)?;
    let before = engine.doors.read_text(&folder.resolved())?;
    Ok(config::resolved_yaml(&resolved) != before)
}

/// Where a person starts the controller, nobody else does.
fn refuse_handed_over(engine: &Engine, folder: &Folder, disk: &OnDisk) -> Result<(), DeployError> {
    let mode = disk.config.as_ref().map(|config| config.tilt.mode);
    if mode != Some(TiltMode::GenerateOnly) {
        return Ok(());
    }
    let words = [
        engine.exe.as_str(),
        "controller",
        "serve",
        "--folder",
        folder.root.as_str(),
    ];
    Err(DeployError::HandedOver {
        session: folder.name.clone(),
        command: words.map(quote).join(" "),
    })
}
