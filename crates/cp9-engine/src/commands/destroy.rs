//! `cp9 destroy`: controller, host, substrate, reaper, post-scan; exit 0 only when nothing is left.

use cp9_model::report::{DestroyReport, Progress};

use crate::engine::{Engine, Select};
use crate::error::Outcome;

/// How `destroy` behaves.
#[derive(Debug, Clone, Default)]
pub struct DestroyOptions {
    /// Which session.
    pub select: Select,
    /// Run Stage 1 again although it is marked done.
    pub force: bool,
    /// Ask nothing.
    pub yes: bool,
}

/// Destroys a session.
pub async fn destroy(_engine: &Engine, _options: DestroyOptions, _progress: &mut dyn FnMut(Progress)) -> Outcome<DestroyReport> {
    todo!()
}
