//! The state of one build resource as a pure step: which event starts, kills or skips a build.
//! Every distinct content of the watched files is built once; a change during a build ends that
//! build and starts one for the newest content.

use std::path::PathBuf;

use cp9_model::control::Phase;

use super::echo::Echo;

/// Builds in a row that may be ended for a newer one. Then one runs to its end, so that someone who
/// saves without pause, or a build that changes its own sources, still gets a version.
const KILLS: u32 = 3;

/// A finished product: its hash and the digest of the files it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Product {
    /// SHA-256 of the binary; `None` for a build without one.
    pub(super) binary: Option<String>,
    /// Digest of the watched files.
    pub(super) source: String,
}

/// How a build ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It wrote its product.
    Built(Product),
    /// It failed, with the compiler's message.
    Failed(String),
    /// It ended well and did not replace its output.
    Unreplaced(String),
    /// It was killed by us.
    Killed,
}

/// What happens to a build resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// What it depends on has had success.
    DepsMet,
    /// An earlier controller left this product, and it is intact; it counts if it was made from
    /// the files as they are now.
    Resumed(Product),
    /// The plan builds it another way now.
    Replanned,
    /// A failed build gets another chance.
    Retry,
    /// The digest of the watched files now.
    Source(String),
    /// The same, after changes that were made while builds ran.
    Echo {
        /// The digest.
        digest: String,
        /// What changed.
        files: Vec<PathBuf>,
    },
    /// A person asks for a build; the digest of the watched files now.
    Triggered(String),
    /// A build ended.
    Finished {
        /// Which one.
        number: u64,
        /// How.
        outcome: Outcome,
        /// Milliseconds its child ran.
        millis: u64,
    },
    /// The controller ends, or the resource left the plan.
    Stop,
}

/// What must be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Start a build.
    Start {
        /// Its number.
        number: u64,
        /// The digest it is made from.
        source: String,
    },
    /// Kill the build of this number.
    Kill(u64),
    /// A product is there for those who run it.
    Deliver(Product),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Flight {
    number: u64,
    source: String,
    forced: bool,
    killed: bool,
    outdated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Last {
    source: String,
    ok: bool,
}

/// The state of a build resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about one build resource"
)]
pub(super) struct Builder {
    /// Changes start builds by themselves.
    pub(super) auto: bool,
    /// The newest product.
    pub(super) product: Option<Product>,
    /// Builds that ended by themselves.
    pub(super) runs: u32,
    /// Milliseconds of the last of them.
    pub(super) millis: Option<u64>,
    /// True when the last build ended well and did not replace its output.
    pub(super) unreplaced: bool,
    /// Number of the last build that ended by itself.
    pub(super) ended: u64,
    failure: Option<String>,
    deps_met: bool,
    stopping: bool,
    asked: bool,
    disk: Option<String>,
    flight: Option<Flight>,
    last: Option<Last>,
    resumed: Option<Product>,
    kills: u32,
    number: u64,
    echo: Echo,
}

impl Builder {
    /// A resource that was never built.
    pub(super) fn new(auto: bool) -> Self {
        Self {
            auto,
            ..Self::default()
        }
    }

    /// Takes one event; the actions are to be done in order.
    pub(super) fn step(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::DepsMet => self.deps_met = true,
            Event::Resumed(product) => self.resumed = Some(product),
            Event::Replanned => self.replan(),
            Event::Retry => self.asked |= self.phase() == Phase::Failed,
            Event::Source(digest) => self.changed(digest),
            Event::Echo { digest, files } => {
                self.echo.hear(files);
                self.disk = Some(digest);
            }
            Event::Triggered(digest) => {
                // A build in flight that is made from these very files answers the wish already.
                let covered = self
                    .flight
                    .as_ref()
                    .is_some_and(|flight| !flight.killed && flight.source == digest);
                self.asked |= !covered;
                self.echo = Echo::default();
                self.disk = Some(digest);
            }
            Event::Finished {
                number,
                outcome,
                millis,
            } => actions.extend(self.finish(number, outcome, millis)),
            Event::Stop => self.stopping = true,
        }
        actions.extend(self.resume());
        actions.extend(self.decide());
        actions
    }

    fn changed(&mut self, digest: String) {
        if self.disk.as_ref() != Some(&digest) {
            self.echo = Echo::default();
        }
        self.disk = Some(digest);
    }

    fn resume(&mut self) -> Option<Action> {
        let disk = self.disk.as_ref()?;
        let product = self.resumed.take()?;
        if self.last.is_some() || self.asked || (self.auto && product.source != *disk) {
            return None;
        }
        self.last = Some(Last {
            source: product.source.clone(),
            ok: true,
        });
        self.product = Some(product.clone());
        Some(Action::Deliver(product))
    }

    fn replan(&mut self) {
        self.resumed = None;
        self.asked |= self.last.is_some() || self.flight.is_some();
        if let Some(flight) = &mut self.flight {
            flight.outdated = true;
        }
    }

    fn finish(&mut self, number: u64, outcome: Outcome, millis: u64) -> Option<Action> {
        let flight = self.flight.take_if(|flight| flight.number == number)?;
        match outcome {
            Outcome::Killed => {
                self.asked |= flight.forced;
                None
            }
            Outcome::Failed(_) | Outcome::Unreplaced(_) if flight.killed => {
                self.asked |= flight.forced;
                None
            }
            Outcome::Failed(message) => {
                self.ended(flight, false, millis);
                self.failure = Some(message);
                None
            }
            Outcome::Unreplaced(message) => {
                self.ended(flight, false, millis);
                self.unreplaced = true;
                self.failure = Some(message);
                None
            }
            Outcome::Built(product) => {
                self.ended(flight, true, millis);
                self.failure = None;
                self.product = Some(product.clone());
                Some(Action::Deliver(product))
            }
        }
    }

    fn ended(&mut self, flight: Flight, ok: bool, millis: u64) {
        self.kills = 0;
        self.ended = flight.number;
        self.unreplaced = false;
        self.last = Some(Last {
            source: flight.source,
            ok,
        });
        self.runs = self.runs.saturating_add(1);
        self.millis = Some(millis);
    }

    fn decide(&mut self) -> Option<Action> {
        if let Some(flight) = &mut self.flight {
            let changed = self
                .disk
                .as_ref()
                .is_some_and(|disk| *disk != flight.source);
            let auto = self.auto && !self.echo.is_likely();
            let newer = changed && (auto || self.asked) && self.kills < KILLS;
            if flight.killed || !(flight.outdated || newer || self.stopping) {
                return None;
            }
            flight.killed = true;
            self.kills += 1;
            return Some(Action::Kill(flight.number));
        }
        let source = self.disk.clone()?;
        if self.stopping || !self.deps_met || !self.wanted(&source) {
            return None;
        }
        if !self.asked && !self.echo.may_build(self.ended) {
            return None;
        }
        self.number += 1;
        let forced = std::mem::take(&mut self.asked);
        self.flight = Some(Flight {
            number: self.number,
            source: source.clone(),
            forced,
            killed: false,
            outdated: false,
        });
        Some(Action::Start {
            number: self.number,
            source,
        })
    }

    fn wanted(&self, disk: &str) -> bool {
        match &self.last {
            None => true,
            Some(last) => self.asked || (self.auto && last.source != disk),
        }
    }

    /// The number of the build that answers a wish told just now; a later one answers it too.
    pub(super) fn answer(&self) -> u64 {
        match &self.flight {
            Some(flight) if !flight.killed && !self.asked => flight.number,
            _ => self.number + 1,
        }
    }

    /// What it is doing.
    pub(super) fn phase(&self) -> Phase {
        match (&self.flight, &self.last) {
            _ if self.stopping && self.flight.is_none() => Phase::Stopped,
            _ if self.stopping => Phase::Stopping,
            (Some(_), _) => Phase::Building,
            (None, Some(last)) if last.ok => Phase::Built,
            (None, Some(_)) => Phase::Failed,
            (None, None) => Phase::Waiting,
        }
    }

    /// True when the last build had success and none runs.
    pub(super) fn ready(&self) -> bool {
        self.phase() == Phase::Built
    }

    /// True once any build ended or an intact product was found.
    pub(super) fn verdict(&self) -> bool {
        self.last.is_some()
    }

    /// True while a build runs or is being killed.
    pub(super) fn busy(&self) -> bool {
        self.flight.is_some()
    }

    /// Why it is not ready, or what it waits for.
    pub(super) fn message(&self) -> Option<String> {
        if self.phase() == Phase::Failed {
            let failure = self.failure.iter().cloned();
            return failure
                .chain(self.echo.message())
                .reduce(|failure, echo| format!("{failure}\n{echo}"));
        }
        if self.flight.is_none() && self.echo.message().is_some() {
            return self.echo.message();
        }
        let last = self.last.as_ref()?;
        let behind =
            self.flight.is_none() && self.disk.as_ref().is_some_and(|disk| *disk != last.source);
        (behind && !self.auto)
            .then(|| "files changed since; the build waits for a trigger".to_owned())
    }

    /// The digest that the last finished build was made from.
    pub(super) fn source(&self) -> Option<String> {
        self.last.as_ref().map(|last| last.source.clone())
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
