//! Everything of a substrate destroyed, from its persisted state.

use cp9_model::scope::TAG_SESSION;
use cp9_model::substrate::{Resource, ResourceStatus, TerraformState};
use cp9_tools::Exit;
use cp9_tools::terraform::Line;

use super::call::Command;
use super::error::SubstrateError;
use super::paths::Paths;
use super::record::{self, InitRecord, PlanRecord};
use super::recover::{Recover, narrate};
use super::work::{Tell, Work};
use crate::destroy::ledger;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;

/// Whether there is, or may be, anything to destroy.
pub(crate) fn needed(engine: &Engine, folder: &Folder) -> Result<bool, EngineError> {
    let paths = Paths::of(folder);
    if !engine.doors.exists(&paths.root) {
        return Ok(false);
    }
    let state = record::state(engine, &paths.state())?;
    let known = !ledger::track(engine, folder).resources.is_empty();
    let unread = [Command::Apply, Command::Destroy]
        .iter()
        .any(|command| engine.doors.exists(&paths.log(command.word())));
    Ok(known || unread || !state.resources.is_empty())
}

impl Work<'_> {
    /// Destroys what the state knows and what can be taken back into it; how many resources are gone.
    pub(crate) async fn destroy(&self, tell: Tell<'_>) -> Result<u32, EngineError> {
        let doors = &self.engine.doors;
        self.recover(Recover::Stop, tell).await?;
        let track = self.take_in()?;
        if track.orphans().next().is_some() {
            // What cannot be taken back stays in the ledger, which names it as a survivor.
            self.adopt(&track, tell).await.ok();
        }
        let state = record::state(self.engine, &self.paths.state())?;
        self.refuse_foreign(&state)?;
        let before = state.resources.len();
        if before == 0 {
            return Ok(0);
        }
        let mut track = self.track();
        let mut sink = |line: &Line| {
            if let Line::Step { step, .. } = line
                && track.step(step)
            {
                // The log has it too; the state decides in the end.
                self.keep(&track).ok();
            }
            narrate(line, tell);
        };
        let cmd = self
            .terraform
            .destroy(&doors.env, &self.place, &self.variables());
        let mut said = self.call(Command::Destroy, &cmd, &mut sink).await?;
        if said.exit != Some(Exit::Code(0)) && said.wants_init() {
            let init = self.terraform.init(&doors.env, &self.place);
            self.must(Command::Init, &init, &mut |_| ()).await?;
            said = self.call(Command::Destroy, &cmd, &mut sink).await?;
        }
        let failure = (said.exit != Some(Exit::Code(0)))
            .then(|| EngineError::from(self.failure(Command::Destroy, &said)));
        self.take_in()?;
        let left = record::state(self.engine, &self.paths.state())?
            .resources
            .len();
        match failure {
            Some(error) => Err(error),
            None if left > 0 => Err(SubstrateError::Left { count: left }.into()),
            None => Ok(u32::try_from(before).unwrap_or(u32::MAX)),
        }
    }

    /// A state into which somebody put what belongs to another session destroys nothing.
    fn refuse_foreign(&self, state: &TerraformState) -> Result<(), EngineError> {
        let ours = self.expected.tags.session.as_str();
        for resource in &state.resources {
            let tags = resource.tags.as_ref();
            let session = tags.and_then(|tags| tags.get(TAG_SESSION));
            if let Some(session) = session.filter(|session| *session != ours) {
                return Err(SubstrateError::Foreign {
                    address: resource.address.clone(),
                    session: session.clone(),
                }
                .into());
            }
        }
        Ok(())
    }
}

/// The root module that a session was initialised with, below its working copy.
pub(crate) fn root(engine: &Engine, folder: &Folder) -> String {
    let record: Option<InitRecord> = record::load(engine, &Paths::of(folder).init());
    record.map(|record| record.root).unwrap_or_default()
}

/// The region of the last plan.
pub(crate) fn region(engine: &Engine, folder: &Folder) -> String {
    let record: Option<PlanRecord> = record::load(engine, &Paths::of(folder).plan());
    record.map(|record| record.region).unwrap_or_default()
}

/// The best known id of a resource.
pub(crate) fn identified(one: &Resource) -> String {
    let known = one.arn.as_ref().or(one.id.as_ref()).or(one.name.as_ref());
    known.unwrap_or(&one.address).clone()
}

/// Why a resource may still be there after everything was tried.
pub(crate) fn why_left(one: &Resource) -> &'static str {
    match (one.in_state, one.status) {
        (true, _) => "still in the Terraform state",
        (false, ResourceStatus::Created) => "created, and in no Terraform state",
        (false, _) => "its creation was begun, and no Terraform state knows it",
    }
}
