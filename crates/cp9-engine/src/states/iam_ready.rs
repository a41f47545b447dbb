//! `iam_ready`: this process may act for the scope, and can find what belongs to it.

use cp9_cloud::aws::{self, Aws};
use cp9_cloud::local::Local;
use cp9_cloud::{Cloud as _, ProvenScope};
use cp9_model::Scope;
use cp9_model::config::resolved::CloudName;
use cp9_render::process::AwsScope;

use crate::error::EngineError;
use crate::identity;
use crate::registry::Registry;
use crate::run::{Ran, Run};

/// The variable that names the certificates to trust.
const ENV_CA_BUNDLE: &str = "AWS_CA_BUNDLE";

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
        &run.config.target,
    ))
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let cloud = Local::new(run.engine.doors.clone(), run.session.folder.root.clone());
    let scope = scope(run)?;
    let mut evidence = vec!["the scope was read back from a process that carried it".to_owned()];
    let local = cloud.prove(scope).await?;
    if run.config.target.cloud == CloudName::Aws {
        evidence.extend(on_aws(run, &local).await?);
    } else {
        identity::refuse_move(run.engine, &run.session.folder, None)?;
        run.made.scope = Some(local);
    }
    let registry = Registry::new(&run.engine.doors, &run.dirs);
    registry
        .own(run.engine, &run.session.folder, run.made.owner()?)
        .await?;
    Ok(Ran::Done(evidence))
}

/// Proves the identity that writes to AWS, and records what was proven.
async fn on_aws(run: &mut Run<'_>, local: &ProvenScope) -> Result<Vec<String>, EngineError> {
    let known = run.made.identified()?;
    let Some(wishes) = identity::wishes(run.engine, &run.config) else {
        return Ok(Vec::new());
    };
    let proven = Box::pin(aws::prove(known, local, &wishes)).await?;
    let evidence = proven.scope.aws().map(identity::told).unwrap_or_default();
    identity::refuse_move(run.engine, &run.session.folder, proven.scope.aws())?;
    if let Some(proof) = proven.scope.aws() {
        identity::record(run.engine, &run.session.folder, proof)?;
        run.made.aws_scope = Some(AwsScope {
            account: proof.account.clone(),
            region: proof.region.clone(),
            principal: proof.principal.to_string(),
            variables: variables(run, &proven.aws).await?,
        });
    }
    run.made.scope = Some(proven.scope);
    run.made.aws = Some(proven.aws);
    Ok(evidence)
}

/// What processes need besides to ask where cp9 asks.
async fn variables(run: &Run<'_>, aws: &Aws) -> Result<Vec<(String, String)>, EngineError> {
    let mut variables = aws.endpoint_variables().await?;
    let trusted = run.engine.doors.env.get(ENV_CA_BUNDLE);
    variables.extend(trusted.map(|path| {
        let path = run.engine.cwd.join(path);
        (ENV_CA_BUNDLE.to_owned(), path.into_string())
    }));
    Ok(variables)
}
