//! `service_plan`: the graph of services, every name and environment checked against the app-delivery
//! inputs.

use cp9_model::graph::ServiceGraph;

use super::invalid;
use crate::document;
use crate::error::EngineError;
use crate::run::{Ran, Run};
use crate::states::host_ready::delivery;

fn graph(run: &mut Run<'_>) -> Result<ServiceGraph, EngineError> {
    let tree = delivery(run)?;
    let inputs =
        cp9_render::argo::load(&run.config, tree).map_err(|problems| invalid(run, problems))?;
    let graph = cp9_render::graph::build(&run.config, &inputs)
        .map_err(|problems| invalid(run, problems))?;
    run.made.inputs = Some(inputs);
    Ok(graph)
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        &run.config.services,
        &run.config.app_delivery,
        &run.config.source_build_services,
    ))
}

pub(crate) fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let path = run.session.folder.graph();
    let graph = graph(run)?;
    let holds =
        run.engine.doors.exists(&path) && run.engine.doors.read(&path)? == document::bytes(&graph);
    run.made.graph = Some(graph);
    Ok(holds)
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let graph = graph(run)?;
    let path = run.session.folder.graph();
    let doors = &run.engine.doors;
    doors.create_private_dir(&run.session.folder.join("services"))?;
    doors.write_if_changed(&path, &document::bytes(&graph), 0o600)?;
    run.made.graph = Some(graph);
    Ok(Ran::with("services/plan.json"))
}
