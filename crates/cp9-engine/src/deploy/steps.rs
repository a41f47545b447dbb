//! The steps of a deploy with the time that each took.

use std::time::Instant;

use cp9_model::report::DeployStep;
use cp9_tools::Clock;

/// What a deploy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Controller,
    Build,
    Run,
    Proof,
}

impl Step {
    fn word(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Build => "build",
            Self::Run => "run",
            Self::Proof => "proof",
        }
    }
}

/// The steps so far; one goes on at a time, and may come again.
pub(crate) struct Steps {
    clock: Clock,
    began: Instant,
    since: Instant,
    now: Option<Step>,
    done: Vec<DeployStep>,
}

impl Steps {
    /// Begins with the controller.
    pub(crate) fn new(clock: &Clock) -> Self {
        let began = clock.instant();
        Self {
            clock: clock.clone(),
            began,
            since: began,
            now: Some(Step::Controller),
            done: Vec::new(),
        }
    }

    /// The step that goes on.
    pub(super) fn now(&self) -> Option<Step> {
        self.now
    }

    /// Ends the step that goes on, if it is another, and begins this one.
    pub(crate) fn go(&mut self, step: Step) {
        if self.now != Some(step) {
            self.end("done", None);
            self.now = Some(step);
        }
    }

    /// Ends the step that goes on, if one does.
    pub(crate) fn end(&mut self, status: &str, message: Option<String>) {
        let seconds = seconds(&self.clock, self.since);
        self.since = self.clock.instant();
        let Some(name) = self.now.take().map(Step::word) else {
            return;
        };
        match self.done.iter_mut().find(|step| step.name == name) {
            Some(step) => {
                step.seconds += seconds;
                status.clone_into(&mut step.status);
                step.message = message.or(step.message.take());
            }
            None => self.done.push(DeployStep {
                name: name.into(),
                status: status.into(),
                seconds,
                message,
            }),
        }
    }

    /// All of them, and the seconds since the first began.
    pub(crate) fn finish(self) -> (Vec<DeployStep>, f64) {
        let seconds = seconds(&self.clock, self.began);
        (self.done, seconds)
    }
}

fn seconds(clock: &Clock, since: Instant) -> f64 {
    let passed = clock.instant().saturating_duration_since(since);
    passed.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_and_a_step_that_comes_again_is_one() {
        let mut steps = Steps::new(&Clock::system());
        steps.end("kept", None);
        for step in [Step::Build, Step::Build, Step::Run, Step::Build, Step::Run] {
            steps.go(step);
        }
        steps.end("failed", Some("why".into()));
        steps.end("failed", Some("twice".into()));
        let (steps, seconds) = steps.finish();
        let told: Vec<_> = steps
            .iter()
            .map(|step| {
                (
                    step.name.as_str(),
                    step.status.as_str(),
                    step.message.as_deref(),
                )
            })
            .collect();
        let expected = [
            ("controller", "kept", None),
            ("build", "done", None),
            ("run", "failed", Some("why")),
        ];
        assert_eq!(told, expected);
        assert!(steps.iter().map(|step| step.seconds).sum::<f64>() <= seconds);
    }
}
