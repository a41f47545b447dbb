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
    now: Step,
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
            now: Step::Controller,
            done: Vec::new(),
        }
    }

    /// The step that goes on.
    pub(super) fn now(&self) -> Step {
        self.now
    }

    /// Ends the step that goes on, if it is another, and begins this one.
    pub(crate) fn go(&mut self, step: Step) {
        if step != self.now {
            self.end("done", None);
            self.now = step;
        }
    }

    /// Ends the step that goes on.
    pub(crate) fn end(&mut self, status: &str, message: Option<String>) {
        let seconds = seconds(&self.clock, self.since);
        self.since = self.clock.instant();
        let name = self.now.word();
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
