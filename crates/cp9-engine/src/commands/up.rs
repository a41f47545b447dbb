//! `cp9 up`: the states in order, then the controller.

use std::time::Duration;

use cp9_model::report::{Progress, UpReport};

use crate::engine::{Engine, Select};
use crate::error::Outcome;

/// How `up` behaves.
#[derive(Debug, Clone, Default)]
pub struct UpOptions {
    /// Which session.
    pub select: Select,
    /// Do not start the controller; print the command that does.
    pub no_tilt: bool,
    /// Fail fast, with the result as exit code.
    pub ci: bool,
    /// Overall limit of the wait for the first verdicts.
    pub timeout: Option<Duration>,
}

/// Brings a session up.
pub async fn up(_engine: &Engine, _options: UpOptions, _progress: &mut dyn FnMut(Progress)) -> Outcome<UpReport> {
    todo!()
}

/// Follows a ready session until cancelled; detaches, never stops it.
pub async fn attach(_engine: &Engine, _select: &Select, _progress: &mut dyn FnMut(Progress)) -> Outcome<UpReport> {
    todo!()
}
