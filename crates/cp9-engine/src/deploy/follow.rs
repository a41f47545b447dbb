//! The wait for the new version: trigger the build, follow the controller to the first verdict,
//! and believe a green one only when the generations are measured to be one.

use std::time::Duration;

use cp9_loop::Controller as _;
use cp9_loop::convergence::{self, Awaited, Standing};
use cp9_loop::embedded::{self, Client, StatusStream};
use cp9_model::control::{ControllerStatus, Phase, ResourceStatus};
use cp9_model::devplan::{DevPlan, Resource, ResourceKind};
use cp9_model::generation::{Generation, Pair};
use cp9_model::report::Progress;
use tokio::time::Instant;

use super::{DeployError, Step, Steps};
use crate::commands::status::{self, NoSession};
use crate::engine::Engine;
use crate::error::{EngineError, Interrupted};
use crate::folder::Folder;

/// How often a build may be asked for again because its sources changed meanwhile.
const AGAIN: u32 = 3;

/// How long a program that gets the built binary may take to start it, once it counts as ready.
const HANDOVER: Duration = Duration::from_secs(3);

/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One deploy on its way.
pub(crate) struct Deploy<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) folder: &'a Folder,
    pub(crate) service: &'a str,
    pub(crate) limit: Duration,
    /// When the limit is over.
    pub(crate) deadline: Instant,
    pub(crate) steps: &'a mut Steps,
    pub(crate) progress: &'a mut dyn FnMut(Progress),
}

/// How a deploy ended.
pub(crate) struct Followed {
    /// The last status that was seen.
    pub(crate) last: Option<ControllerStatus>,
    /// What was measured last.
    pub(crate) generation: Option<Generation>,
    /// Why it is no success.
    pub(crate) error: Option<EngineError>,
}

impl Followed {
    /// It did not even begin.
    pub(crate) fn failed(error: EngineError) -> Self {
        Self {
            last: None,
            generation: None,
            error: Some(error),
        }
    }
}

/// What changes on the way.
struct Way {
    client: Client,
    watch: StatusStream,
    plan: DevPlan,
    digest: String,
    awaited: Awaited,
    again: u32,
    last: Option<ControllerStatus>,
    generation: Option<Generation>,
}

impl Deploy<'_> {
    /// Deploys; the plan is the one on disk.
    pub(crate) async fn follow(mut self, plan: DevPlan) -> Followed {
        let built = plan.resources.iter().any(|resource| {
            resource.service == self.service && resource.kind == ResourceKind::Build
        });
        self.steps.go(if built { Step::Build } else { Step::Run });
        let mut way = match self.begin(plan).await {
            Ok(way) => way,
            Err(error) => return Followed::failed(error),
        };
        let error = self.converge(&mut way).await.err();
        if error.is_some() {
            // The proof of a success is complete; of a failure this is what can be known.
            way.generation = way.last.as_ref().and_then(|now| self.measure(&way, now));
        }
        Followed {
            last: way.last,
            generation: way.generation,
            error,
        }
    }

    async fn begin(&mut self, plan: DevPlan) -> Result<Way, EngineError> {
        let mut client = status::client(self.engine, self.folder).await?;
        let watch = status::client(self.engine, self.folder)
            .await?
            .watch()
            .await?;
        let now = client.status().await?;
        let (_, process) = convergence::resources(&plan, self.service, &now);
        let start = process
            .and_then(|process| process.lineage.as_ref())
            .map_or(0, |at| at.ended);
        let awaited = Awaited {
            service: self.service.to_owned(),
            build: None,
            start,
        };
        let mut way = Way {
            client,
            watch,
            digest: plan.digest(),
            plan,
            awaited,
            again: 0,
            last: None,
            generation: None,
        };
        self.trigger(&mut way).await?;
        Ok(way)
    }

    /// Asks for the build; the process follows its product and is never triggered itself.
    async fn trigger(&mut self, way: &mut Way) -> Result<(), EngineError> {
        let mut planned = way.plan.resources.iter();
        let own = |resource: &&Resource| {
            resource.service == self.service && resource.kind == ResourceKind::Build
        };
        if let Some(build) = planned.find(own) {
            way.awaited.build = Some(way.client.trigger(&build.name).await?);
        }
        Ok(())
    }

    async fn converge(&mut self, way: &mut Way) -> Result<(), EngineError> {
        loop {
            let now = self.next(way).await?;
            match self.standing(way, &now) {
                Standing::Building => self.steps.go(Step::Build),
                Standing::Starting => self.steps.go(Step::Run),
                Standing::Converged => {
                    self.steps.go(Step::Run);
                    if self.proven(way).await? {
                        return Ok(());
                    }
                }
                Standing::Failed(failure) => {
                    let (own, _) = convergence::resources(&way.plan, self.service, &now);
                    let session = &self.folder.name;
                    let error = DeployError::of(failure, session, self.service, own.is_some());
                    return Err(error.into());
                }
            }
        }
    }

    /// The next status, and its news told.
    async fn next(&mut self, way: &mut Way) -> Result<ControllerStatus, EngineError> {
        let next = tokio::select! {
            next = tokio::time::timeout_at(self.deadline, way.watch.next()) => next,
            () = self.engine.doors.cancel.cancelled() => {
                return Err(Interrupted::error(None, "deploy"));
            }
        };
        let Ok(next) = next else {
            return Err(self.late(way).into());
        };
        let next = next?.ok_or_else(|| NoSession::NoController {
            name: self.folder.name.clone(),
        })?;
        self.tell(way.last.as_ref(), &next);
        way.last = Some(next.clone());
        Ok(next)
    }

    fn tell(&mut self, last: Option<&ControllerStatus>, next: &ControllerStatus) {
        let own = |status: &&ResourceStatus| status.service == self.service;
        for resource in next.resources.iter().filter(own) {
            let at_work = matches!(resource.phase, Phase::Building | Phase::Starting);
            // What was at rest before is no news.
            if last.map_or(at_work, |last| !last.resources.contains(resource)) {
                (self.progress)(Progress::Resource(Box::new(resource.clone())));
            }
        }
    }

    /// How far it is by the plan that the controller runs, which another command may have changed.
    fn standing(&self, way: &mut Way, now: &ControllerStatus) -> Standing {
        if now.hello.plan_digest != way.digest
            && let Ok(bytes) = self.engine.doors.read(&self.folder.dev_plan())
            && let Ok(plan) = serde_json::from_slice::<DevPlan>(&bytes)
        {
            way.digest = plan.digest();
            way.plan = plan;
        }
        convergence::standing(&way.plan, &way.awaited, now)
    }

    /// True when everything measured is one generation. False when it moved while it was measured;
    /// news are on their way then.
    async fn proven(&mut self, way: &mut Way) -> Result<bool, EngineError> {
        let now = way.client.status().await?;
        if self.standing(way, &now) != Standing::Converged {
            return Ok(false);
        }
        self.steps.go(Step::Proof);
        let generation = self.measure_settled(way, &now).await;
        let differs = generation.as_ref().map(|generation| generation.differs);
        way.generation = generation;
        let after = way.client.status().await?;
        if !self.same(&now, &after) {
            return Ok(false);
        }
        way.last = Some(after);
        match differs {
            Some(None) => Ok(true),
            // Its sources changed while it was built, and the controller may not know that yet.
            Some(Some(Pair::SourceBinary)) if way.outrun() && way.again < AGAIN => {
                way.again += 1;
                self.trigger(way).await?;
                Ok(false)
            }
            Some(Some(pair)) => Err(DeployError::Differs {
                service: self.service.to_owned(),
                pair,
            }
            .into()),
            None => Err(DeployError::NotPlanned {
                session: self.folder.name.clone(),
                service: self.service.to_owned(),
            }
            .into()),
        }
    }

    /// Measures; again for a moment where the process may not have handed over to the binary yet.
    async fn measure_settled(&self, way: &Way, now: &ControllerStatus) -> Option<Generation> {
        let until = self.deadline.min(Instant::now() + HANDOVER);
        loop {
            let generation = self.measure(way, now);
            let differs = generation
                .as_ref()
                .and_then(|generation| generation.differs);
            let handing_over = differs == Some(Pair::BinaryRunning) && self.is_wrapped(way);
            if !handing_over || Instant::now() >= until {
                return generation;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = self.engine.doors.cancel.cancelled() => return generation,
            }
        }
    }

    /// True when another program gets the built binary, so that it is not the process itself.
    fn is_wrapped(&self, way: &Way) -> bool {
        let mut planned = way.plan.resources.iter();
        planned.any(|resource| {
            let serves = resource.kind == ResourceKind::Serve && resource.binary.is_none();
            serves && resource.service == self.service
        })
    }

    fn measure(&self, way: &Way, now: &ControllerStatus) -> Option<Generation> {
        embedded::measure(&self.engine.doors, &way.plan, self.service, now)
    }

    fn same(&self, one: &ControllerStatus, other: &ControllerStatus) -> bool {
        let own = |status: &&ResourceStatus| status.service == self.service;
        let (one, other) = (one.resources.iter(), other.resources.iter());
        one.filter(own).eq(other.filter(own))
    }

    fn late(&self, way: &Way) -> DeployError {
        let what = match self.steps.now() {
            Some(Step::Run) => "its new version is not ready",
            Some(Step::Proof) => "its files changed again and again",
            _ => "its build has not ended",
        };
        let waits = way.last.as_ref().and_then(|now| {
            let (build, process) = convergence::resources(&way.plan, self.service, now);
            let red = [build, process]
                .into_iter()
                .flatten()
                .find(|status| !status.ready);
            red?.message.clone()
        });
        DeployError::Late {
            service: self.service.to_owned(),
            limit: self.limit,
            what: waits.map_or_else(|| what.to_owned(), |said| format!("{what}; {said}")),
        }
    }
}

impl Way {
    /// True when the files are newer than what the last build was made from.
    fn outrun(&self) -> bool {
        let generation = self.generation.as_ref();
        generation.is_some_and(|generation| generation.source != generation.built_from)
    }
}
