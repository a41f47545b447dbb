//! `substrate_plan`: the persona's var file is copied, the session's values are put beside it, the changes
//! are planned, and the plan is checked before anything may be made of it.

use cp9_model::lifecycle::StateName;

use super::substrate_init::{copy, nothing, work};
use crate::error::EngineError;
use crate::run::{Ran, Run};
use crate::substrate::Recover;

/// The digest of files, values and place.
pub(crate) fn input(run: &Run<'_>) -> String {
    let init = super::substrate_init::input(run);
    let copy = run
        .config
        .terraform
        .as_ref()
        .map(|terraform| copy(run, terraform));
    match copy {
        Some(Ok(copy)) => {
            let text = |bytes: &[u8]| cp9_model::digest::bytes(bytes);
            let var_file = copy.var_file.as_ref().map(|(_, bytes)| text(bytes));
            super::digest(&(init, var_file, text(&copy.values)))
        }
        _ => super::digest(&init),
    }
}

pub(crate) async fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let Some(terraform) = run.config.terraform.clone() else {
        return Ok(true);
    };
    let root = copy(run, &terraform)?.root;
    let work = work(run, root.as_str()).await?;
    let mut tell = |text: &str| run.tell(StateName::SubstratePlan, "running", Some(text.into()));
    work.recover(Recover::Wait, &mut tell).await?;
    work.plan_holds(&mut tell).await
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let Some(terraform) = run.config.terraform.clone() else {
        return Ok(nothing());
    };
    let copy = copy(run, &terraform)?;
    let work = work(run, copy.root.as_str()).await?;
    let mut tell = |text: &str| run.tell(StateName::SubstratePlan, "running", Some(text.into()));
    work.recover(Recover::Wait, &mut tell).await?;
    work.write_values(&copy)?;
    Ok(Ran::Done(work.plan(&mut tell).await?))
}
