//! `cp9 pause`: stops the controller and the host, keeps everything else.

use cp9_model::report::PauseReport;

use crate::engine::{Engine, Select};
use crate::error::Outcome;

/// Pauses a session.
pub async fn pause(_engine: &Engine, _select: Select) -> Outcome<PauseReport> {
    todo!()
}
