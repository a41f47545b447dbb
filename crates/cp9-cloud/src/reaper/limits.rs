//! How much, how long and how often.

use std::time::Duration;

/// The limits of a reaper, beside those of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tries at the same time.
    pub at_once: usize,
    /// How often one object is taken up again in one run: unknown kinds that stay, others that come back.
    pub passes: u32,
    /// The most passes of one run.
    pub rounds: u32,
    /// The pause before the second of those passes; it doubles from pass to pass.
    pub pause: Duration,
    /// The pause between the last delete and the scan that decides.
    pub settle: Duration,
    /// The time of an object of an unknown kind in one pass.
    pub unknown: Duration,
    /// How long to wait between two looks at such an object.
    pub poll: Duration,
    /// How often a scan is repeated that could not look everywhere for a reason that may pass.
    pub rescans: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            at_once: 16,
            passes: 5,
            rounds: 12,
            pause: Duration::from_secs(2),
            settle: Duration::from_secs(3),
            unknown: Duration::from_secs(20),
            poll: Duration::from_secs(2),
            rescans: 2,
        }
    }
}
