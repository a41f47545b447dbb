//! When a burst of file events is over: after a short quiet time, or when it has lasted too long.

use std::time::{Duration, Instant};

/// Editors write a file in several steps that lie closer together than this.
pub(super) const QUIET: Duration = Duration::from_millis(25);
/// Endless writers must not hold back a build.
pub(super) const LONGEST: Duration = Duration::from_millis(200);

/// A burst of events, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Debounce {
    burst: Option<(Instant, Instant)>,
}

impl Debounce {
    /// Takes note of an event.
    pub(super) fn note(&mut self, now: Instant) {
        let first = self.burst.map_or(now, |(first, _)| first);
        self.burst = Some((first, now));
    }

    /// When the burst is over; `None` without one.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.burst
            .map(|(first, last)| (last + QUIET).min(first + LONGEST))
    }

    /// True when the burst is over by now; the next event begins another.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let over = self.deadline().is_some_and(|deadline| now >= deadline);
        if over {
            self.burst = None;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_ends_after_the_quiet_time_and_at_the_latest_after_the_longest() {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let mut debounce = Debounce::default();
        assert_eq!(debounce.deadline(), None);
        assert!(!debounce.take(at(1_000)));
        debounce.note(at(0));
        debounce.note(at(20));
        assert_eq!(debounce.deadline(), Some(at(45)));
        assert!(!debounce.take(at(44)));
        assert!(debounce.take(at(45)));
        assert_eq!(debounce.deadline(), None);
        for millis in (100..400).step_by(10) {
            debounce.note(at(millis));
        }
        assert_eq!(debounce.deadline(), Some(at(300)));
    }
}
