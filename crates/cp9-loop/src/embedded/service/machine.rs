//! The state of one served process as a pure step: when it starts, stops, restarts or stays down,
//! and when it counts as ready. Nothing here waits or spawns.

use std::time::Duration;

use cp9_model::control::Phase;
use cp9_tools::ProcessId;

use super::event::{Action, Due, Event, Probes, Started, Which};
use crate::embedded::builder::Product;
use crate::embedded::probe::ProbeState;
use crate::embedded::supervise::{self, Decision, History};

/// Failures in a row that count as a verdict; fewer are the usual wait for a neighbour.
const VERDICT_FAILURES: u32 = 3;
/// A start that is not ready after this, or after the probe's own patience, is a verdict.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// Why a process is being stopped, which decides what follows its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    Start,
    Fail(String),
    End,
}

/// The state of a served process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about one process"
)]
pub(in crate::embedded) struct Service {
    pub(super) probes: Probes,
    pub(super) needs_product: bool,
    deps_met: bool,
    pub(super) phase: Phase,
    pub(super) run: u64,
    pub(super) since: Duration,
    pub(super) history: History,
    pub(super) ready_state: ProbeState,
    pub(super) live_state: ProbeState,
    then: Option<Then>,
    pub(super) product: Option<Product>,
    entry: Option<String>,
    pub(super) id: Option<ProcessId>,
    pub(super) started: Started,
    /// True once it was ready.
    pub(in crate::embedded) succeeded: bool,
    /// True once it was ready or failed.
    pub(in crate::embedded) verdict: bool,
    /// Why it is not ready.
    pub(in crate::embedded) message: Option<String>,
    /// Starts so far.
    pub(in crate::embedded) runs: u32,
}

impl Service {
    /// A process that was never started.
    pub(in crate::embedded) fn new(probes: Probes, needs_product: bool) -> Self {
        Self {
            probes,
            needs_product,
            deps_met: false,
            phase: Phase::Waiting,
            run: 0,
            since: Duration::ZERO,
            history: History::default(),
            ready_state: ProbeState::default(),
            live_state: ProbeState::default(),
            then: None,
            product: None,
            entry: None,
            id: None,
            started: Started::default(),
            succeeded: false,
            verdict: false,
            message: None,
            runs: 0,
        }
    }

    /// Takes one event at a moment since the controller's start.
    pub(in crate::embedded) fn step(&mut self, event: Event, now: Duration) -> Vec<Action> {
        match event {
            Event::DepsMet => {
                self.deps_met = true;
                self.first_start()
            }
            Event::Product(product) => self.new_product(product),
            Event::Entry(entry) => self.new_entry(entry),
            Event::Triggered => self.renew(),
            Event::Adopted(id, started) => self.adopted(id, started, now),
            Event::Spawned(run, id) if run == self.run => self.spawned(id, now),
            Event::SpawnFailed(run, message) if run == self.run => {
                // One that was on its way out again says nothing of what comes next.
                self.verdict |= self.then.is_none();
                self.ended(&message, now)
            }
            Event::Exited(run, message) if run == self.run => self.ended(&message, now),
            Event::Probed(run, which, answer) if run == self.run => self.probed(which, answer),
            Event::Due(run, due) if run == self.run => self.due(due),
            Event::Stop => self.stop(),
            Event::Spawned(..)
            | Event::SpawnFailed(..)
            | Event::Exited(..)
            | Event::Probed(..)
            | Event::Due(..) => Vec::new(),
        }
    }

    fn first_start(&mut self) -> Vec<Action> {
        let complete = self.deps_met
            && self.entry.is_some()
            && (self.product.is_some() || !self.needs_product);
        if self.phase == Phase::Waiting && complete {
            self.start()
        } else {
            Vec::new()
        }
    }

    fn new_product(&mut self, product: Product) -> Vec<Action> {
        let same = self.started.product.as_ref().is_some_and(|running| {
            running.binary == product.binary
                && (product.binary.is_some() || running.source == product.source)
        });
        self.product = Some(product.clone());
        if same && self.alive() {
            // The same bytes made from other files: the process need not move.
            self.started.product = Some(product);
            return Vec::new();
        }
        self.renew()
    }

    fn new_entry(&mut self, entry: String) -> Vec<Action> {
        let same = self.started.entry == entry;
        self.entry = Some(entry);
        if self.phase == Phase::Waiting {
            return self.first_start();
        }
        if same { Vec::new() } else { self.renew() }
    }

    /// Brings the newest product and entry into a process, with a clear record.
    fn renew(&mut self) -> Vec<Action> {
        match self.phase {
            Phase::Waiting => self.first_start(),
            Phase::Backoff | Phase::Quiescent => {
                self.history = History::default();
                self.start()
            }
            Phase::Starting | Phase::Running | Phase::Unready => {
                self.history = History::default();
                self.halt(Then::Start)
            }
            Phase::Stopping => {
                if self.then != Some(Then::End) {
                    self.history = History::default();
                    self.then = Some(Then::Start);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn start(&mut self) -> Vec<Action> {
        self.run += 1;
        self.phase = Phase::Starting;
        self.ready_state = ProbeState::default();
        self.live_state = ProbeState::default();
        self.started = Started {
            product: self.product.clone(),
            entry: self.entry.clone().unwrap_or_default(),
        };
        vec![Action::Spawn(self.run, self.started.clone())]
    }

    pub(super) fn halt(&mut self, then: Then) -> Vec<Action> {
        self.phase = Phase::Stopping;
        self.then = Some(then);
        vec![Action::Stop(self.run)]
    }

    fn stop(&mut self) -> Vec<Action> {
        match self.phase {
            Phase::Stopping => {
                self.then = Some(Then::End);
                Vec::new()
            }
            Phase::Starting | Phase::Running | Phase::Unready => self.halt(Then::End),
            _ => {
                self.phase = Phase::Stopped;
                self.message = None;
                Vec::new()
            }
        }
    }

    fn adopted(&mut self, id: ProcessId, started: Started, now: Duration) -> Vec<Action> {
        self.run += 1;
        self.product.clone_from(&started.product);
        self.started = started;
        self.phase = Phase::Starting;
        self.spawned(id, now)
    }

    fn spawned(&mut self, id: ProcessId, now: Duration) -> Vec<Action> {
        self.id = Some(id);
        self.since = now;
        self.runs = self.runs.saturating_add(1);
        if self.phase == Phase::Stopping {
            return Vec::new();
        }
        let own = self
            .probes
            .ready
            .period_seconds
            .saturating_mul(self.probes.ready.failure_threshold);
        let patience = START_PATIENCE.max(Duration::from_secs(u64::from(own)));
        vec![
            Action::Probe(self.run, Which::Ready, Duration::ZERO),
            Action::Timer(self.run, Due::Stable, supervise::STABLE),
            Action::Timer(self.run, Due::Late, patience),
        ]
    }

    fn ended(&mut self, message: &str, now: Duration) -> Vec<Action> {
        let ran = if self.id.take().is_some() {
            now.saturating_sub(self.since)
        } else {
            Duration::ZERO
        };
        match self.then.take() {
            Some(Then::Start) => self.start(),
            Some(Then::End) => {
                self.phase = Phase::Stopped;
                self.message = None;
                Vec::new()
            }
            Some(Then::Fail(reason)) => self.failed(&reason, ran),
            None => self.failed(message, ran),
        }
    }

    fn failed(&mut self, reason: &str, ran: Duration) -> Vec<Action> {
        let (history, decision) = supervise::policy(self.history, ran);
        self.history = history;
        self.verdict |= history.failures >= VERDICT_FAILURES;
        let count = format!(
            "failure {} of {}",
            history.failures,
            supervise::FAILURE_LIMIT
        );
        match decision {
            Decision::Restart(after) => {
                self.phase = Phase::Backoff;
                self.message = Some(format!(
                    "{reason} ({count}, next start in {} s)",
                    after.as_secs_f32()
                ));
                vec![Action::Timer(self.run, Due::Restart, after)]
            }
            Decision::Quiescent => {
                self.phase = Phase::Quiescent;
                self.verdict = true;
                self.message = Some(format!(
                    "{reason} ({count}, stays down until the next build, deploy or up)"
                ));
                Vec::new()
            }
        }
    }

    fn due(&mut self, due: Due) -> Vec<Action> {
        match due {
            Due::Restart if self.phase == Phase::Backoff => return self.start(),
            Due::Stable if self.alive() => self.history = History::default(),
            Due::Late if self.phase == Phase::Starting => {
                self.phase = Phase::Unready;
                self.verdict = true;
                if self.message.is_none() {
                    self.message = Some("not ready in time".into());
                }
            }
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn alive(&self) -> bool {
        matches!(
            self.phase,
            Phase::Starting | Phase::Running | Phase::Unready
        )
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
