//! The one place that tells the time.

use std::time::Instant;

use jiff::Timestamp;

/// The time of this machine, or a fixed one for reproducible output.
#[derive(Debug, Clone)]
pub struct Clock {
    fixed: Option<Timestamp>,
}

impl Clock {
    /// The time of this machine.
    pub fn system() -> Self {
        Self { fixed: None }
    }

    /// Always this time.
    pub fn fixed(at: Timestamp) -> Self {
        Self { fixed: Some(at) }
    }

    /// The time now, in UTC.
    #[expect(clippy::disallowed_methods, reason = "the one door to the time")]
    pub fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }

    /// A point for measuring how long something takes; runs on also when the clock is fixed.
    pub fn instant(&self) -> Instant {
        Instant::now()
    }
}
