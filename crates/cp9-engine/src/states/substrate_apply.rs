//! `substrate_apply`: exactly the plan that was checked is applied, and the outputs are written. Every
//! resource is in the ledger before its creation is begun.

use cp9_model::lifecycle::StateName;

use super::substrate_init::{copy, nothing, work};
use crate::error::EngineError;
use crate::run::{Ran, Run};
use crate::substrate::Recover;

pub(crate) async fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let Some(terraform) = run.config.terraform.clone() else {
        return Ok(true);
    };
    let root = copy(run, &terraform)?.root;
    Ok(work(run, root.as_str()).await?.is_applied())
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let Some(terraform) = run.config.terraform.clone() else {
        return Ok(nothing());
    };
    let root = copy(run, &terraform)?.root;
    let work = work(run, root.as_str()).await?;
    let mut tell = |text: &str| run.tell(StateName::SubstrateApply, "running", Some(text.into()));
    work.recover(Recover::Wait, &mut tell).await?;
    Ok(Ran::Done(work.apply(&mut tell).await?))
}
