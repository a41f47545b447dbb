//! The restart policy as a pure function: back-off, reset after a stable run, and the end after
//! eight failures in a row. A process that must keep running has failed however it ended.

use std::time::Duration;

/// The pause before the first restart; it doubles with each further failure.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A run of this length counts as stable and clears the count.
pub(super) const STABLE: Duration = Duration::from_secs(30);
/// Failures in a row that end the restarts.
pub(super) const FAILURE_LIMIT: u32 = 8;

/// What is remembered between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct History {
    /// Failures in a row.
    pub(super) failures: u32,
}

/// What happens after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Start again after this pause.
    Restart(Duration),
    /// Stay down until the next build, deploy or up.
    Quiescent,
}

/// Decides after a run that lasted `ran` and failed.
pub(super) fn policy(history: History, ran: Duration) -> (History, Decision) {
    let before = if ran >= STABLE { 0 } else { history.failures };
    let failures = before.saturating_add(1);
    let decision = if failures >= FAILURE_LIMIT {
        Decision::Quiescent
    } else {
        Decision::Restart(pause(failures))
    };
    (History { failures }, decision)
}

fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_the_eighth_failure_ends_it() {
        let mut history = History::default();
        let mut pauses = Vec::new();
        loop {
            let (next, decision) = policy(history, Duration::from_millis(20));
            history = next;
            match decision {
                Decision::Restart(after) => pauses.push(after.as_millis()),
                Decision::Quiescent => break,
            }
        }
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
        assert_eq!(history.failures, FAILURE_LIMIT);
    }

    #[test]
    fn a_run_just_short_of_stable_still_counts() {
        let history = History { failures: 7 };
        let (_, short) = policy(
            history,
            STABLE.checked_sub(Duration::from_millis(1)).expect("30 s"),
        );
        assert_eq!(short, Decision::Quiescent);
        let (cleared, long) = policy(history, STABLE);
        assert_eq!(
            (cleared.failures, long),
            (1, Decision::Restart(FIRST_PAUSE))
        );
    }

    proptest! {
        #[test]
        fn never_restarts_after_the_eighth_failure_in_a_row(runs in prop::collection::vec(0u64..60_000, 1..200)) {
            let mut history = History::default();
            let mut in_a_row = 0u32;
            for millis in runs {
                let ran = Duration::from_millis(millis);
                in_a_row = if ran >= STABLE { 1 } else { in_a_row + 1 };
                let (next, decision) = policy(history, ran);
                history = next;
                prop_assert_eq!(history.failures, in_a_row);
                match decision {
                    Decision::Restart(after) => {
                        prop_assert!(in_a_row < FAILURE_LIMIT);
                        prop_assert!((FIRST_PAUSE..=LONGEST_PAUSE).contains(&after));
                    }
                    Decision::Quiescent => prop_assert!(in_a_row >= FAILURE_LIMIT),
                }
            }
        }
    }
}
