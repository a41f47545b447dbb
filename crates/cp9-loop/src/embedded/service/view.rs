//! What others may know of a served process.

use std::time::Duration;

use cp9_model::control::Phase;
use cp9_model::devplan::Probe;
use cp9_tools::ProcessId;

use super::Service;
use super::event::{Action, Probes, Started, Which};
use crate::embedded::probe::{self, ProbeState};

impl Service {
    /// What it is doing.
    pub(in crate::embedded) fn phase(&self) -> Phase {
        self.phase
    }

    /// The start that events are about now.
    pub(in crate::embedded) fn run(&self) -> u64 {
        self.run
    }

    /// The start that answers a wish told just now.
    pub(in crate::embedded) fn answer(&self) -> u64 {
        match self.phase {
            Phase::Waiting | Phase::Stopping => self.run + 1,
            _ => self.run,
        }
    }

    /// True while the process may be probed.
    pub(in crate::embedded) fn probed_run(&self, run: u64) -> bool {
        run == self.run && self.alive()
    }

    /// How it is judged.
    pub(in crate::embedded) fn probe(&self, which: Which) -> Option<&Probe> {
        match which {
            Which::Ready => Some(&self.probes.ready),
            Which::Live => self.probes.live.as_ref(),
        }
    }

    /// True once this process was ready.
    pub(in crate::embedded) fn was_ready(&self) -> bool {
        self.ready_state.passed_once
    }

    /// How long the process has been running.
    pub(in crate::embedded) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// Failures in a row since the last stable run.
    pub(in crate::embedded) fn restarts(&self) -> u32 {
        self.history.failures
    }

    /// The process, while there is one.
    pub(in crate::embedded) fn id(&self) -> Option<ProcessId> {
        self.id
    }

    /// What the process was started from, while there is one.
    pub(in crate::embedded) fn started(&self) -> Option<&Started> {
        self.id.map(|_| &self.started)
    }

    /// Replaces what the plan says of it. A process that is judged another way now is asked anew:
    /// comes back with the questions then, which replace all that are open.
    pub(in crate::embedded) fn set_plan(
        &mut self,
        probes: Probes,
        needs_product: bool,
    ) -> Option<Vec<Action>> {
        self.needs_product = needs_product;
        if !needs_product {
            self.product = None;
        }
        let before = std::mem::replace(&mut self.probes, probes);
        if before == self.probes {
            return None;
        }
        if before.ready != self.probes.ready {
            self.ready_state = ProbeState::default();
        }
        if before.live != self.probes.live {
            self.live_state = ProbeState::default();
        }
        Some(self.questions())
    }

    /// What is to be asked of a process from now on.
    fn questions(&self) -> Vec<Action> {
        let mut questions = Vec::new();
        if self.id.is_none() || !self.alive() {
            return questions;
        }
        let passed = self.ready_state.passed_once;
        if !(passed && probe::is_once(&self.probes.ready)) {
            questions.push(Action::Probe(self.run, Which::Ready, Duration::ZERO));
        }
        if let Some(live) = self.probes.live.as_ref().filter(|_| passed) {
            let pause = Duration::from_secs(u64::from(live.period_seconds.max(1)));
            questions.push(Action::Probe(self.run, Which::Live, pause));
        }
        questions
    }

    /// The product is about to be another one: a first start waits for that.
    pub(in crate::embedded) fn withdraw_product(&mut self) {
        if self.phase == Phase::Waiting {
            self.product = None;
        }
    }
}
