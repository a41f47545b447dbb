//! `iam_ready`: this process may act for the scope, and can find what belongs to it.

use cp9_cloud::Cloud as _;
use cp9_cloud::local::Local;
use cp9_model::Scope;

use crate::error::EngineError;
use crate::registry::Registry;
use crate::run::{Ran, Run};

fn scope(run: &Run<'_>) -> Result<Scope, EngineError> {
    Ok(Scope {
        owner: run.made.owner()?.clone(),
        session: run.config.name.clone(),
        id: run.session.state.id.clone(),
    })
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        &run.made.owner,
        &run.config.name,
        &run.session.state.id,
        run.config.target.cloud,
    ))
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let cloud = Local::new(run.engine.doors.clone(), run.session.folder.root.clone());
    run.made.scope = Some(cloud.prove(scope(run)?).await?);
    let registry = Registry::new(&run.engine.doors, &run.dirs);
    registry
        .own(run.engine, &run.session.folder, run.made.owner()?)
        .await?;
    Ok(Ran::with(
        "the scope was read back from a process that carried it",
    ))
}
