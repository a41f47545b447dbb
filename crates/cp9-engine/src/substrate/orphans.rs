//! Resources that were created and are in no state: taken back into the state where their name, or their tags
//! alone, are enough to find them, so that the next apply makes no second one.

use cp9_cloud::aws::tagged::tagged_here;
use cp9_model::scope::{TAG_OWNER, TAG_SESSION};
use cp9_model::substrate::{
    MANAGED, Resource, ResourceStatus, StateResource, TAG_MANAGED, Track, import_id, import_ids,
    is_found_by_tags,
};
use cp9_tools::Exit;

use super::call::{Command, Said};
use super::error::SubstrateError;
use super::record;
use super::work::{Tell, Work};
use crate::error::EngineError;

/// What Terraform says of an id behind which there is nothing (`internal/terraform/node_resource_import.go`).
const ABSENT: &str = "Cannot import non-existent remote object";

/// What became of one.
enum Fate {
    /// It is in the state now.
    Adopted,
    /// There is none.
    Absent,
    /// Nobody can say.
    Unknown,
}

impl Work<'_> {
    /// Takes back what can be taken back; what exists and is not ours is an error.
    pub(super) async fn adopt(&self, track: &Track, tell: Tell<'_>) -> Result<(), EngineError> {
        let orphans: Vec<Resource> = track.orphans().cloned().collect();
        let mut track = track.clone();
        for orphan in orphans {
            let name = orphan.name.as_deref().unwrap_or(&orphan.address);
            tell(&format!("looking for `{name}`, which an earlier run began"));
            if let Fate::Absent | Fate::Adopted = self.fate(&orphan).await? {
                track.resources.retain(|one| one != &orphan);
                self.keep(&track)?;
            }
        }
        self.take_in().map(drop)
    }

    async fn fate(&self, orphan: &Resource) -> Result<Fate, EngineError> {
        let by_name = || {
            let name = orphan.name.as_deref()?;
            import_id(&orphan.kind, name, self.at())
        };
        let id = match orphan.id.clone().or_else(by_name) {
            Some(id) => Some(id),
            None => self.by_tags(orphan).await?,
        };
        let Some(id) = id else {
            return Ok(Fate::Unknown);
        };
        let before = record::state(self.engine, &self.paths.state())?;
        if before.at(&orphan.address).is_some() {
            // Another one has taken its place: this one is left for the destroy.
            return Ok(Fate::Unknown);
        }
        let env = &self.engine.doors.env;
        let cmd = self
            .terraform
            .import(env, &self.place, &self.variables(), &orphan.address, &id);
        let said = self.call(Command::Import, &cmd, &mut |_| ()).await?;
        if said.exit != Some(Exit::Code(0)) {
            return Ok(absent(&said));
        }
        let state = record::state(self.engine, &self.paths.state())?;
        match state.at(&orphan.address) {
            Some(found) if self.is_ours(found) => Ok(Fate::Adopted),
            Some(_) => self.give_back(orphan).await,
            None => Ok(Fate::Unknown),
        }
    }

    /// The id of what an address must have made: the only one of its type that carries the session's tags
    /// and that no state knows, if no other address may have made it.
    async fn by_tags(&self, orphan: &Resource) -> Result<Option<String>, EngineError> {
        let track = self.track();
        let rival = |one: &&Resource| {
            let begun = one.status != ResourceStatus::Planned;
            begun && one.kind == orphan.kind && one.id.is_none()
        };
        let mut rivals = track.orphans().filter(rival);
        let alone = rivals.next() == Some(orphan) && rivals.next().is_none();
        let Some(aws) = self
            .aws
            .as_ref()
            .filter(|_| is_found_by_tags(&orphan.kind) && alone)
        else {
            return Ok(None);
        };
        let found = tagged_here(aws, &self.scope).await?;
        let mut ids = import_ids(&orphan.kind, found.iter().map(|one| one.arn.as_str()));
        let state = record::state(self.engine, &self.paths.state())?;
        ids.retain(|id| !state.resources.iter().any(|one| one.is(id)));
        Ok(ids.pop().filter(|_| ids.is_empty()))
    }

    /// True for what carries owner and session, and was made by a substrate.
    fn is_ours(&self, found: &StateResource) -> bool {
        let tags = found.tags.as_ref();
        let has = |key: &str, value: &str| {
            tags.and_then(|tags| tags.get(key))
                .is_some_and(|found| found == value)
        };
        let ours = &self.expected.tags;
        has(TAG_OWNER, ours.owner.as_str())
            && has(TAG_SESSION, ours.session.as_str())
            && has(TAG_MANAGED, MANAGED)
    }

    /// Takes something out of the state again that only bears our name.
    async fn give_back(&self, orphan: &Resource) -> Result<Fate, EngineError> {
        let doors = &self.engine.doors;
        let cmd = self
            .terraform
            .forget(&doors.env, &self.place, &orphan.address);
        doors.run(&cmd).await?.checked()?;
        let name = orphan
            .name
            .clone()
            .unwrap_or_else(|| orphan.address.clone());
        if orphan.status == ResourceStatus::Failed {
            // Its creation failed because it was there before: it never was ours.
            let mut track = self.track();
            track.resources.retain(|one| one != orphan);
            self.keep(&track)?;
        }
        Err(SubstrateError::Taken {
            name,
            address: orphan.address.clone(),
        }
        .into())
    }
}

fn absent(said: &Said) -> Fate {
    let summaries = said.problems.iter().map(|one| one.summary.as_str());
    let mut all = summaries.chain(said.text.iter().map(String::as_str));
    if all.any(|line| line.contains(ABSENT)) {
        Fate::Absent
    } else {
        Fate::Unknown
    }
}
