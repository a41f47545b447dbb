//! The stage between host and reaper: what Terraform made is destroyed by Terraform, from the persisted state.
//! Its failure stops nothing after it.

use cp9_cloud::aws::Proven;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::report::Survivor;
use cp9_model::substrate::{Expected, SessionTags};

use super::ledger;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::run::NotMade;
use crate::substrate::{self, Identity, Tell, Work, credentials};

/// Destroys; how many resources are gone, or none where there is nothing to destroy.
pub(super) async fn run(
    engine: &Engine,
    folder: &Folder,
    config: Option<&ResolvedConfig>,
    proven: Option<&Proven>,
    tell: Tell<'_>,
) -> Result<Option<u32>, EngineError> {
    if !substrate::needed(engine, folder)? {
        return Ok(None);
    }
    let identity = identity(config, proven).await?;
    let terraform = engine.doors.terraform().await?;
    let root = substrate::root(engine, folder);
    let work = Work::new(engine, folder, terraform, &root, identity);
    work.destroy(tell).await.map(Some)
}

async fn identity(
    config: Option<&ResolvedConfig>,
    proven: Option<&Proven>,
) -> Result<Identity, EngineError> {
    let (Some(config), Some(proven)) = (config, proven) else {
        return Err(NotMade::PROOF.into());
    };
    let proof = proven.scope.aws().ok_or(NotMade::PROOF)?;
    let scope = proven.scope.scope().clone();
    let ttl = config.host.ttl.as_deref();
    Ok(Identity {
        expected: Expected {
            tags: SessionTags::new(scope.owner.clone(), scope.session.clone(), ttl),
            account: proof.account.clone(),
            region: proof.region.clone(),
        },
        partition: proof.partition.clone(),
        credentials: credentials(&proven.aws).await?,
        aws: Some(proven.aws.clone()),
        scope,
    })
}

/// What the ledger still has: it exists, or nobody can say that it does not. What a scan has found already
/// is not told twice.
pub(super) fn left(engine: &Engine, folder: &Folder, found: &[Survivor]) -> Vec<Survivor> {
    let known = |arn: &Option<String>| {
        let arn = arn.as_ref();
        arn.is_some_and(|arn| found.iter().any(|one| one.id == *arn))
    };
    let track = ledger::track(engine, folder);
    let region = substrate::region(engine, folder);
    let rest = track.resources.iter().filter(|one| !known(&one.arn));
    rest.map(|one| Survivor {
        cloud: "aws".into(),
        region: region.clone(),
        kind: one.kind.clone(),
        id: substrate::identified(one),
        name: None,
        detail: None,
        blocker: None,
        inside: None,
        reason: substrate::why_left(one).into(),
        remedy: Some(format!(
            "run the command again; or delete `{}` by hand if it exists",
            substrate::identified(one)
        )),
    })
    .collect()
}
