//! `cp9 logs`: lines of the services, past and following.

use std::time::Duration;

use cp9_model::report::LogLine;

use crate::engine::{Engine, Select};
use crate::error::Outcome;

/// Which lines.
#[derive(Debug, Clone, Default)]
pub struct LogsOptions {
    /// Which session.
    pub select: Select,
    /// Only this service.
    pub service: Option<String>,
    /// Go on with new lines until cancelled.
    pub follow: bool,
    /// Only lines younger than this.
    pub since: Option<Duration>,
    /// Only lines of this level or worse: `debug`, `info`, `warn`, `error`.
    pub level: Option<String>,
    /// Everything there is, not only the last 200 lines of each service.
    pub all: bool,
}

/// Hands each line to `sink`; the report is the number of lines.
pub async fn logs(_engine: &Engine, _options: LogsOptions, _sink: &mut dyn FnMut(LogLine)) -> Outcome<usize> {
    todo!()
}
