//! When a failed call is tried again, and how long it waits first.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use cp9_tools::Doors;
use tokio::time::Instant;

use super::error::{AwsError, AwsErrorKind};

/// The first pause after throttling, before jitter; it doubles from try to try.
const THROTTLED_BASE: Duration = Duration::from_millis(500);
/// The same after other failures.
const FAILED_BASE: Duration = Duration::from_millis(100);
/// The longest pause before jitter.
const LONGEST: Duration = Duration::from_secs(20);
/// Silence is tried once more only: every try of it costs a whole limit.
const MOST_SILENCES: u32 = 2;

/// How long and how often one call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// For one try.
    pub attempt: Duration,
    /// For all tries and the pauses between them.
    pub overall: Duration,
    /// The most tries.
    pub attempts: u32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(10),
            overall: Duration::from_mins(1),
            attempts: 8,
        }
    }
}

impl CallLimits {
    /// For questions that answer at once or not at all, such as who one is: one silence is enough.
    pub const PROMPT: Self = Self {
        attempt: Duration::from_secs(4),
        overall: Duration::from_secs(4),
        attempts: 4,
    };
}

/// The tries of one call. A loop around them instead of a closure in them, because the future of a
/// borrowing closure cannot be sent to another task.
pub(crate) struct Tries<'d> {
    doors: &'d Doors,
    limits: CallLimits,
    idempotent: bool,
    deadline: Instant,
    tried: u32,
    silences: u32,
}

impl<'d> Tries<'d> {
    /// The clock of the overall limit runs from here.
    pub(crate) fn new(doors: &'d Doors, limits: CallLimits, idempotent: bool) -> Self {
        Self {
            doors,
            limits,
            idempotent,
            deadline: Instant::now() + limits.overall,
            tried: 0,
            silences: 0,
        }
    }

    /// How long the next try may take.
    pub(crate) fn limit(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.min(self.limits.attempt)
    }

    /// Waits after a failed try for the next one; gives the failure back when there is none,
    /// because the call may not be repeated or the limits are reached.
    pub(crate) async fn after(&mut self, error: AwsError) -> Result<(), AwsError> {
        self.tried += 1;
        self.silences += u32::from(error.kind() == AwsErrorKind::Timeout);
        let error = error.edit(|facts| facts.attempts = self.tried);
        let spent = self.tried >= self.limits.attempts || self.silences >= MOST_SILENCES;
        let pause = pause(&error, self.tried, fraction());
        let late = Instant::now() + pause >= self.deadline;
        if spent || late || !may_repeat(&error, self.idempotent) {
            return Err(error);
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(()),
            () = self.doors.cancel.cancelled() => {
                Err(error.edit(|facts| facts.kind = AwsErrorKind::Interrupted))
            }
        }
    }
}

/// A throttled request did nothing, nor did one that never arrived; after any other failure it may
/// have, so only calls that may be repeated are.
fn may_repeat(error: &AwsError, idempotent: bool) -> bool {
    match error.kind() {
        AwsErrorKind::Throttled => true,
        AwsErrorKind::Network => idempotent || !error.facts().sent,
        AwsErrorKind::Timeout | AwsErrorKind::Server => idempotent,
        _ => false,
    }
}

/// Exponential with full jitter, and at least what the service asks for.
fn pause(error: &AwsError, tried: u32, fraction: f64) -> Duration {
    let base = match error.kind() {
        AwsErrorKind::Throttled => THROTTLED_BASE,
        _ => FAILED_BASE,
    };
    let doubled = base.saturating_mul(2_u32.saturating_pow(tried.saturating_sub(1)));
    let jittered = doubled.min(LONGEST).mul_f64(fraction);
    jittered.max(error.facts().retry_after.unwrap_or_default())
}

/// A random number from 0 to 1. The keys of the standard library's hasher are random, and nothing
/// here needs better.
fn fraction() -> f64 {
    let bits = RandomState::new().hash_one(0) >> 32;
    f64::from(u32::try_from(bits).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod retry_tests;
