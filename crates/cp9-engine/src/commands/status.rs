//! `cp9 status`: the states, the services, the controller.

use std::time::Duration;

use cp9_model::report::StatusReport;

use crate::engine::{Engine, Select};
use crate::error::Outcome;

/// How `status` behaves.
#[derive(Debug, Clone, Default)]
pub struct StatusOptions {
    /// Which session.
    pub select: Select,
    /// Wait until every service is ready, at most this long.
    pub wait: Option<Duration>,
}

/// Tells how a session is.
pub async fn status(_engine: &Engine, _options: StatusOptions) -> Outcome<StatusReport> {
    todo!()
}
