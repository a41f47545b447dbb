//! The state of one served process as a pure step: when it starts, stops, restarts or stays down,
//! and when it counts as ready. Nothing here waits or spawns.

use std::time::Duration;

use cp9_model::control::Phase;
use cp9_model::devplan::Probe;
use cp9_tools::ProcessId;

use super::builder::Product;
use super::probe::{self, ProbeState};
use super::supervise::{self, Decision, History};

/// Failures in a row that count as a verdict; fewer are the usual wait for a neighbour.
const VERDICT_FAILURES: u32 = 3;
/// A start that is not ready after this, or after the probe's own patience, is a verdict.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// Which probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Decides whether the process is ready.
    Ready,
    /// Decides whether the process must be restarted.
    Live,
}

/// Which timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// A back-off is over.
    Restart,
    /// The run has lasted long enough to clear the failures.
    Stable,
    /// The start has taken too long.
    Late,
}

/// What a running process was started from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Started {
    /// Its binary and source digests.
    pub(super) product: Option<Product>,
    /// Digest of its plan entry, files and secrets.
    pub(super) entry: String,
}

/// What happens to a served process. `run` tells which start an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// What it depends on has had success.
    DepsMet,
    /// A product to run.
    Product(Product),
    /// The digest of its plan entry, files and secrets; a new one restarts it.
    Entry(String),
    /// A person asks for a restart.
    Triggered,
    /// A process of an earlier controller goes on under this one.
    Adopted(ProcessId, Started),
    /// The process was started.
    Spawned(u64, ProcessId),
    /// It could not be started, with the reason.
    SpawnFailed(u64, String),
    /// It ended, with the reason in words.
    Exited(u64, String),
    /// A probe answered.
    Probed(u64, Which, Result<(), String>),
    /// A timer fired.
    Due(u64, Due),
    /// The controller ends, or the resource left the plan.
    Stop,
}

/// What must be done, for the run it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Start the process from this.
    Spawn(u64, Started),
    /// Stop it: signal, grace, kill.
    Stop(u64),
    /// Ask a probe after a pause.
    Probe(u64, Which, Duration),
    /// Fire a timer after a pause.
    Timer(u64, Due, Duration),
}

/// Why a process is being stopped, which decides what follows its end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Then {
    Start,
    Fail(String),
    End,
}

/// How a process is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Probes {
    /// Readiness.
    pub(super) ready: Probe,
    /// Liveness.
    pub(super) live: Option<Probe>,
}

/// The state of a served process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    probes: Probes,
    needs_product: bool,
    deps_met: bool,
    phase: Phase,
    run: u64,
    since: Duration,
    history: History,
    ready_state: ProbeState,
    live_state: ProbeState,
    then: Option<Then>,
    product: Option<Product>,
    entry: Option<String>,
    id: Option<ProcessId>,
    started: Started,
    /// True once it was ready.
    pub(super) succeeded: bool,
    /// True once it was ready or failed.
    pub(super) verdict: bool,
    /// Why it is not ready.
    pub(super) message: Option<String>,
    /// Starts so far.
    pub(super) runs: u32,
}

impl Service {
    /// A process that was never started.
    pub(super) fn new(probes: Probes, needs_product: bool) -> Self {
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
    pub(super) fn step(&mut self, event: Event, now: Duration) -> Vec<Action> {
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
                self.verdict = true;
                self.ended(message, now)
            }
            Event::Exited(run, message) if run == self.run => self.ended(message, now),
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

    fn halt(&mut self, then: Then) -> Vec<Action> {
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

    fn ended(&mut self, message: String, now: Duration) -> Vec<Action> {
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
            None => self.failed(&message, ran),
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

    fn probed(&mut self, which: Which, answer: Result<(), String>) -> Vec<Action> {
        if !self.alive() {
            return Vec::new();
        }
        match which {
            Which::Ready => self.ready_probed(answer),
            Which::Live => self.live_probed(answer),
        }
    }

    fn ready_probed(&mut self, answer: Result<(), String>) -> Vec<Action> {
        let first = !self.ready_state.passed_once;
        let (state, pause) = probe::step(self.ready_state, answer.is_ok(), &self.probes.ready);
        self.ready_state = state;
        let mut actions = Vec::new();
        if state.passing {
            self.phase = Phase::Running;
            self.succeeded = true;
            self.verdict = true;
            self.message = None;
        } else {
            if self.phase == Phase::Running {
                self.phase = Phase::Unready;
            }
            // The reason of a crash says more than the closed port of the next start.
            let crashed = self.phase == Phase::Starting && self.history.failures > 0;
            if !crashed || self.message.is_none() {
                self.message = answer.err().or(self.message.take());
            }
        }
        if first && state.passed_once && self.probes.live.is_some() {
            actions.push(Action::Probe(self.run, Which::Live, pause));
        }
        if !(state.passed_once && probe::is_once(&self.probes.ready)) {
            actions.push(Action::Probe(self.run, Which::Ready, pause));
        }
        actions
    }

    fn live_probed(&mut self, answer: Result<(), String>) -> Vec<Action> {
        let Some(probe) = self.probes.live.clone() else {
            return Vec::new();
        };
        let (mut state, _) = probe::step(self.live_state, answer.is_ok(), &probe);
        // Liveness is asked only after the first readiness, so never at the eager pace.
        state.passed_once = true;
        self.live_state = state;
        match answer {
            Err(reason) if probe::failed(&state, &probe) => {
                self.halt(Then::Fail(format!("liveness probe failed: {reason}")))
            }
            _ => {
                let pause = Duration::from_secs(u64::from(probe.period_seconds.max(1)));
                vec![Action::Probe(self.run, Which::Live, pause)]
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

    fn alive(&self) -> bool {
        matches!(
            self.phase,
            Phase::Starting | Phase::Running | Phase::Unready
        )
    }

    /// What it is doing.
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// The start that events are about now.
    pub(super) fn run(&self) -> u64 {
        self.run
    }

    /// True while the process may be probed.
    pub(super) fn probed_run(&self, run: u64) -> bool {
        run == self.run && self.alive()
    }

    /// How it is judged.
    pub(super) fn probe(&self, which: Which) -> Option<&Probe> {
        match which {
            Which::Ready => Some(&self.probes.ready),
            Which::Live => self.probes.live.as_ref(),
        }
    }

    /// How long the process has been running.
    pub(super) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// Failures in a row since the last stable run.
    pub(super) fn restarts(&self) -> u32 {
        self.history.failures
    }

    /// The process, while there is one.
    pub(super) fn id(&self) -> Option<ProcessId> {
        self.id
    }

    /// What the process was started from, while there is one.
    pub(super) fn started(&self) -> Option<&Started> {
        self.id.map(|_| &self.started)
    }

    /// Replaces what the plan says of it; takes effect with the next check and start.
    pub(super) fn set_plan(&mut self, probes: Probes, needs_product: bool) {
        self.probes = probes;
        self.needs_product = needs_product;
        if !needs_product {
            self.product = None;
        }
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
