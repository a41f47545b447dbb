//! `host_ready`: the folders of the process host exist, are private, and every service has its ports.
//! The manifests are read tolerantly here; `service_plan` judges them.

use camino::Utf8PathBuf;
use cp9_model::host::{HostFacts, PortWanted};
use cp9_render::{AppTree, FileTree};

use crate::error::EngineError;
use crate::host::{Host as _, ProcessHost};
use crate::run::{Ran, Run};

/// The files of the app-delivery root and the override manifests; none for a session without services.
/// They are read once a run, so that every state judges the same files.
pub(crate) fn delivery<'a>(run: &'a Run<'_>) -> Result<&'a AppTree, EngineError> {
    if let Some(tree) = run.made.delivery.get() {
        return Ok(tree);
    }
    let tree = read(run)?;
    Ok(run.made.delivery.get_or_init(|| tree))
}

fn read(run: &Run<'_>) -> Result<AppTree, EngineError> {
    let Some(delivery) = &run.config.app_delivery else {
        return Ok(AppTree::default());
    };
    let doors = &run.engine.doors;
    let services = &run.config.services;
    let source = services
        .source
        .values()
        .flat_map(|source| &source.overrides);
    let live = services.live.values().flat_map(|live| &live.overrides);
    let mut overrides = FileTree::new();
    for path in source.chain(live).map(Utf8PathBuf::from) {
        // What is missing is said at its place in the session file.
        if doors.exists(&path) {
            overrides.insert(path.clone(), doors.read(&path)?);
        }
    }
    Ok(AppTree {
        files: doors.read_checkout(delivery.repo.as_str().into())?,
        overrides,
    })
}

/// The ports that the manifests ask for. Manifests that cannot be read ask for what the session already
/// has, so that a mistake in one of them moves no port.
fn wanted(run: &Run<'_>) -> Vec<PortWanted> {
    let inputs = delivery(run)
        .ok()
        .and_then(|tree| cp9_render::argo::load(&run.config, tree).ok());
    match inputs {
        Some(inputs) => cp9_render::ports_wanted(&inputs, &run.config),
        None => host(run)
            .load()
            .ok()
            .flatten()
            .map(|facts| present(&facts))
            .unwrap_or_default(),
    }
}

fn present(facts: &HostFacts) -> Vec<PortWanted> {
    let services = facts.ports.iter();
    services
        .flat_map(|(service, ports)| {
            ports.keys().map(|container| PortWanted {
                service: service.clone(),
                container: *container,
            })
        })
        .collect()
}

fn host<'a>(run: &'a Run<'_>) -> ProcessHost<'a> {
    ProcessHost {
        engine: run.engine,
        dirs: &run.dirs,
        folder: &run.session.folder,
        id: &run.session.state.id,
    }
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(&run.config.host, &run.session.state.id, wanted(run)))
}

pub(crate) fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let facts: Option<HostFacts> = host(run).load()?;
    let wanted = wanted(run);
    let holds = facts
        .as_ref()
        .is_some_and(|facts| host(run).holds(facts, &wanted));
    run.made.host = facts;
    Ok(holds)
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let wanted = wanted(run);
    let facts = host(run).ensure(&wanted).await?;
    run.made.host = Some(facts);
    Ok(Ran::with("host.json"))
}
