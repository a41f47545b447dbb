//! The checked plan made true, with a ledger of every resource from before its creation.

use cp9_model::substrate::{TerraformState, untagged};
use cp9_tools::Exit;
use cp9_tools::terraform::Line;

use super::call::{Command, Said};
use super::error::{SubstrateError, with_offences};
use super::record::{self, Applied, PlanRecord};
use super::recover::narrate;
use super::work::{Tell, Work};
use crate::document;
use crate::error::EngineError;

impl Work<'_> {
    /// True if the saved plan was applied, the state is the one that came of it, and so are the outputs.
    pub(crate) fn is_applied(&self) -> bool {
        let applied: Option<Applied> = record::load(self.engine, &self.paths.applied());
        let plan = self.saved_plan();
        let state = record::state(self.engine, &self.paths.state());
        let (Some(applied), Some(plan), Ok(state)) = (applied, plan, state) else {
            return false;
        };
        let outputs = document::bytes(&record::outputs(&state));
        let kept = self.engine.doors.read(&self.paths.outputs());
        let same = applied.serial == state.serial && applied.lineage == state.lineage;
        same && applied.digest == plan.digest && kept.is_ok_and(|kept| kept == outputs)
    }

    /// Applies exactly the plan that was checked.
    pub(crate) async fn apply(&self, tell: Tell<'_>) -> Result<Vec<String>, EngineError> {
        let plan = self.fresh_plan(tell).await?;
        let mut track = self.track();
        track.plan(&plan.makes);
        // On disk before Terraform begins: whatever ends it, the names are known.
        self.keep(&track)?;
        let saved = self.paths.saved();
        let cmd = self
            .terraform
            .apply(&self.engine.doors.env, &self.place, &saved);
        let mut lost = None;
        let said = self
            .call(Command::Apply, &cmd, &mut |line| {
                if let Line::Step { step, .. } = line
                    && track.step(step)
                    && let Err(error) = self.keep(&track)
                {
                    lost = Some(error);
                }
                narrate(line, tell);
            })
            .await;
        let failed = self.failed(said);
        // Whatever it came to, what is there now is known before the error is told.
        self.take_in()?;
        if let Some(error) = failed.or(lost) {
            return Err(error);
        }
        self.finish(&plan)
    }

    fn failed(&self, said: Result<Said, EngineError>) -> Option<EngineError> {
        match said {
            Ok(said) if said.exit == Some(Exit::Code(0)) => None,
            Ok(said) => Some(self.failure(Command::Apply, &said).into()),
            Err(error) => Some(error),
        }
    }

    /// The saved plan, or a new one where the state has moved on since it was made, as it does when an apply
    /// fails midway.
    async fn fresh_plan(&self, tell: Tell<'_>) -> Result<PlanRecord, EngineError> {
        let state = record::state(self.engine, &self.paths.state())?;
        let settled = self.track().orphans().next().is_none();
        if let Some(plan) = self
            .saved_plan()
            .filter(|plan| settled && plan.fits(&state))
        {
            return Ok(plan);
        }
        self.plan(tell).await?;
        self.saved_plan()
            .ok_or_else(|| SubstrateError::NoPlan.into())
    }

    fn finish(&self, plan: &PlanRecord) -> Result<Vec<String>, EngineError> {
        let state = record::state(self.engine, &self.paths.state())?;
        self.refuse_untagged(&state)?;
        let outputs = record::outputs(&state);
        record::save(self.engine, &self.paths.outputs(), &outputs)?;
        let applied = Applied {
            digest: plan.digest.clone(),
            lineage: state.lineage,
            serial: state.serial,
        };
        record::save(self.engine, &self.paths.applied(), &applied)?;
        let resources = state.resources.len();
        Ok(vec![
            "terraform/outputs.json".into(),
            format!("{resources} resources, {} outputs", outputs.len()),
        ])
    }

    fn refuse_untagged(&self, state: &TerraformState) -> Result<(), EngineError> {
        let offences = untagged(state, &self.expected.tags);
        if offences.is_empty() {
            return Ok(());
        }
        let count = offences.len();
        Err(with_offences(SubstrateError::Untagged { count }, &offences))
    }
}
