//! `substrate_init`: the Terraform root and what it reaches is copied below the session, and initialised
//! there. Terraform never runs in, and never changes, the checkout.

use cp9_cloud::ProvenScope;
use cp9_model::config::resolved::Terraform;
use cp9_model::lifecycle::StateName;
use cp9_model::substrate::{Expected, SessionTags};
use cp9_render::FileTree;
use cp9_render::substrate::{Values, WorkingCopy, working_copy};
use cp9_tools::Secret;

use crate::error::EngineError;
use crate::run::{NotMade, Ran, Run};
use crate::substrate::{self, Identity, Paths, Recover, Work};

/// What a session without a `terraform` block says.
pub(super) fn nothing() -> Ran {
    Ran::Skipped("the session file has no `terraform` block".into())
}

/// The files of the root; read once a run, so that every state judges the same files.
fn sources<'r>(run: &'r Run<'_>, terraform: &Terraform) -> Result<&'r FileTree, EngineError> {
    if let Some(tree) = run.made.sources.get() {
        return Ok(tree);
    }
    let tree = substrate::read(run.engine, terraform)?;
    Ok(run.made.sources.get_or_init(|| tree))
}

/// The tags of everything that the substrate makes.
fn tags(run: &Run<'_>) -> Result<SessionTags, EngineError> {
    let owner = run.made.owner()?.clone();
    let ttl = run.config.host.ttl.as_deref();
    Ok(SessionTags::new(owner, run.config.name.clone(), ttl))
}

/// What was proven, as the rules of a plan need it.
fn expected(run: &Run<'_>) -> Result<Expected, EngineError> {
    let proof = run.made.scope()?.aws();
    let proof = proof.ok_or(NotMade::PROOF)?;
    Ok(Expected {
        tags: tags(run)?,
        account: proof.account.clone(),
        region: proof.region.clone(),
    })
}

/// The working copy as it should be.
pub(super) fn copy(run: &Run<'_>, terraform: &Terraform) -> Result<WorkingCopy, EngineError> {
    let files = sources(run, terraform)?;
    let Expected {
        tags,
        account,
        region,
    } = expected(run)?;
    let values = Values {
        tags,
        account,
        region,
    };
    let state = Paths::of(&run.session.folder).state();
    working_copy(&run.config, terraform, files, &values, &state)
        .map_err(|problems| super::invalid(run, problems))
}

/// The substrate at work, as the identity that was proven.
pub(super) async fn work<'a>(run: &mut Run<'a>, root: &str) -> Result<Work<'a>, EngineError> {
    let terraform = match run.made.terraform.clone() {
        Some(found) => found,
        None => run.engine.doors.terraform().await?,
    };
    run.made.terraform = Some(terraform.clone());
    let proven: &ProvenScope = run.made.scope()?;
    let partition = proven.aws().map(|proof| proof.partition.clone());
    let identity = Identity {
        expected: expected(run)?,
        partition: partition.unwrap_or_default(),
        scope: proven.scope().clone(),
        credentials: credentials(run).await?,
        aws: run.made.aws.clone(),
    };
    let folder = &run.session.folder;
    Ok(Work::new(run.engine, folder, terraform, root, identity))
}

async fn credentials(run: &Run<'_>) -> Result<Vec<(String, Secret)>, EngineError> {
    match &run.made.aws {
        Some(aws) => Ok(substrate::credentials(aws).await?),
        None => Err(NotMade::PROOF.into()),
    }
}

/// The digest of files and values.
pub(super) fn input(run: &Run<'_>) -> String {
    let Some(terraform) = &run.config.terraform else {
        return super::digest(&());
    };
    // What cannot be copied is told when the state runs; until then it is one input like any other.
    match copy(run, terraform) {
        Ok(copy) => super::digest(&(terraform, digests(&copy.tree), copy.var_file.map(|v| v.0))),
        Err(error) => super::digest(&(terraform, error.told())),
    }
}

fn digests(tree: &FileTree) -> Vec<(String, String)> {
    let digest = |bytes: &Vec<u8>| cp9_model::digest::bytes(bytes);
    tree.iter()
        .map(|(path, bytes)| (path.to_string(), digest(bytes)))
        .collect()
}

pub(crate) async fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let Some(terraform) = run.config.terraform.clone() else {
        return Ok(true);
    };
    let copy = copy(run, &terraform)?;
    let work = work(run, copy.root.as_str()).await?;
    Ok(work.is_initialised(&copy))
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let Some(terraform) = run.config.terraform.clone() else {
        return Ok(nothing());
    };
    let copy = copy(run, &terraform)?;
    let work = work(run, copy.root.as_str()).await?;
    let mut tell = |text: &str| run.tell(StateName::SubstrateInit, "running", Some(text.into()));
    work.recover(Recover::Wait, &mut tell).await?;
    Ok(Ran::Done(work.init(&copy, &mut tell).await?))
}
