//! What the answers of its probes do to a served process.

use std::time::Duration;

use cp9_model::control::Phase;

use super::Service;
use super::event::{Action, Which};
use super::machine::Then;
use crate::embedded::probe;

impl Service {
    pub(super) fn probed(&mut self, which: Which, answer: Result<(), String>) -> Vec<Action> {
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
}
