//! A plan made, read and checked.

use cp9_model::substrate::{Plan, check};
use cp9_tools::Exit;

use super::call::Command;
use super::error::{SubstrateError, with_offences};
use super::record::{self, Applied, PlanRecord};
use super::recover::narrate;
use super::work::{Tell, Work};
use crate::error::EngineError;

impl Work<'_> {
    /// True if the saved plan was applied and would change nothing now, or may still be applied.
    pub(crate) async fn plan_holds(&self, tell: Tell<'_>) -> Result<bool, EngineError> {
        let Some(plan) = self.saved_plan() else {
            return Ok(false);
        };
        let state = record::state(self.engine, &self.paths.state())?;
        let unread = self.engine.doors.exists(&self.paths.log("apply"));
        if unread || self.track().orphans().next().is_some() {
            return Ok(false);
        }
        let applied: Option<Applied> = record::load(self.engine, &self.paths.applied());
        if applied.is_none_or(|applied| applied.digest != plan.digest) {
            return Ok(plan.fits(&state));
        }
        let env = &self.engine.doors.env;
        let cmd = self.terraform.look(env, &self.place, &self.variables());
        let mut told = |line: &_| narrate(line, tell);
        let said = self.call(Command::Look, &cmd, &mut told).await?;
        Ok(said.exit == Some(Exit::Code(0)))
    }

    /// The saved plan, if it is the one that was checked, for this place, and found good.
    pub(super) fn saved_plan(&self) -> Option<PlanRecord> {
        let plan: PlanRecord = record::load(self.engine, &self.paths.plan())?;
        let digest = self.engine.doors.digest(&self.paths.saved()).ok()?;
        let good = plan.offences.is_empty() && plan.is_for(&self.expected);
        (good && plan.digest == digest).then_some(plan)
    }

    /// Plans, reads the plan and checks it. A plan that is refused is removed.
    pub(crate) async fn plan(&self, tell: Tell<'_>) -> Result<Vec<String>, EngineError> {
        let doors = &self.engine.doors;
        let track = self.take_in()?;
        if track.orphans().next().is_some() {
            self.adopt(&track, tell).await?;
        }
        doors.remove_file(&self.paths.plan())?;
        doors.remove_file(&self.paths.saved())?;
        self.make_plan(tell).await?;
        let record = self.read_plan().await?;
        record::save(self.engine, &self.paths.plan(), &record)?;
        if !record.offences.is_empty() {
            doors.remove_file(&self.paths.saved())?;
            let count = record.offences.len();
            let error = SubstrateError::Refused { count };
            return Err(with_offences(error, &record.offences));
        }
        let PlanRecord {
            add,
            change,
            destroy,
            ..
        } = record;
        Ok(vec![
            "terraform/plan.json".into(),
            format!("{add} to add, {change} to change, {destroy} to destroy"),
        ])
    }

    async fn make_plan(&self, tell: Tell<'_>) -> Result<(), EngineError> {
        let doors = &self.engine.doors;
        let saved = self.paths.saved();
        let cmd = self
            .terraform
            .plan(&doors.env, &self.place, &self.variables(), &saved);
        let said = self
            .call(Command::Plan, &cmd, &mut |line| narrate(line, tell))
            .await?;
        if said.exit == Some(Exit::Code(0)) {
            return Ok(());
        }
        if !said.wants_init() {
            return Err(self.failure(Command::Plan, &said).into());
        }
        // A plug-in cache was emptied: what was initialised is gone.
        let init = self.terraform.init(&doors.env, &self.place);
        self.must(Command::Init, &init, &mut |_| ()).await?;
        self.must(Command::Plan, &cmd, &mut |line| narrate(line, tell))
            .await
            .map(drop)
    }

    async fn read_plan(&self) -> Result<PlanRecord, EngineError> {
        let doors = &self.engine.doors;
        let saved = self.paths.saved();
        let cmd = self.terraform.show(&doors.env, &self.place, &saved);
        let shown = doors.run(&cmd).await?.checked()?;
        let plan =
            Plan::parse(shown.stdout.as_bytes()).map_err(|source| SubstrateError::Unreadable {
                path: saved.clone(),
                source,
            })?;
        let (add, change, destroy) = plan.counts();
        let state = record::state(self.engine, &self.paths.state())?;
        Ok(PlanRecord {
            api_version: PlanRecord::VERSION.into(),
            program: self.terraform.name.into(),
            version: self.terraform.version.clone(),
            digest: doors.digest(&saved)?,
            lineage: state.lineage,
            serial: state.serial,
            add,
            change,
            destroy,
            makes: plan.makes(),
            offences: check(&plan, &self.expected),
            account: self.expected.account.clone(),
            region: self.expected.region.clone(),
        })
    }
}
