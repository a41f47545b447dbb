//! How often a run tries again: per state and in total.

use std::time::Duration;

use crate::explain::Category;

/// What is left of a run's retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Retries left in the whole run.
    pub total: u32,
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Try again after a pause.
    After(Duration),
    /// Give up.
    Stop,
}

impl Budget {
    /// Decides after attempt number `attempt` (from 1) of at most `attempts`. Only transient failures
    /// are tried again; the pause doubles from half a second to at most eight.
    pub fn decide(&mut self, category: Category, attempt: u32, attempts: u32) -> Retry {
        if category != Category::Transient || attempt >= attempts || self.total == 0 {
            return Retry::Stop;
        }
        self.total -= 1;
        let doublings = attempt.saturating_sub(1).min(4);
        Retry::After(Duration::from_millis(500 << doublings))
    }
}
