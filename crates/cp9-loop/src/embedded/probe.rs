//! What a probe's answers mean, as a pure step: when a process counts as ready, when it stops
//! being so, and how long to wait for the next check.

use std::time::Duration;

use cp9_model::devplan::{Check, Probe};

/// The first checks follow each other faster than this steady pace.
const EAGER_FIRST: Duration = Duration::from_millis(10);
/// The pace until the first success; the manifest's initial delay is ignored.
const EAGER: Duration = Duration::from_millis(100);

/// What is remembered between two checks of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ProbeState {
    /// True once it succeeded as often in a row as the probe asks.
    pub(super) passed_once: bool,
    /// The verdict now.
    pub(super) passing: bool,
    /// Checks made in this run.
    checks: u32,
    successes: u32,
    failures: u32,
}

/// Takes one answer and says how long to wait for the next check.
pub(super) fn step(state: ProbeState, success: bool, probe: &Probe) -> (ProbeState, Duration) {
    let mut next = state;
    next.checks = state.checks.saturating_add(1);
    if success {
        next.successes = state.successes.saturating_add(1);
        next.failures = 0;
        if next.successes >= probe.success_threshold.max(1) {
            next.passing = true;
            next.passed_once = true;
        }
    } else {
        next.successes = 0;
        next.failures = state.failures.saturating_add(1);
        if next.failures >= probe.failure_threshold.max(1) {
            next.passing = false;
        }
    }
    (next, pause(&next, probe))
}

fn pause(state: &ProbeState, probe: &Probe) -> Duration {
    if state.passed_once {
        return Duration::from_secs(u64::from(probe.period_seconds.max(1)));
    }
    let doublings = state.checks.saturating_sub(1).min(8);
    (EAGER_FIRST * (1 << doublings)).min(EAGER)
}

/// True when the failures in a row have reached the probe's threshold.
pub(super) fn failed(state: &ProbeState, probe: &Probe) -> bool {
    state.failures >= probe.failure_threshold.max(1)
}

/// True for a check that is over once it has succeeded: the end of the process says the rest.
pub(super) fn is_once(probe: &Probe) -> bool {
    matches!(probe.check, Check::Alive { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe() -> Probe {
        Probe {
            check: Check::Tcp { port: 1 },
            period_seconds: 10,
            timeout_seconds: 1,
            failure_threshold: 3,
            success_threshold: 1,
        }
    }

    fn run(answers: &[bool], probe: &Probe) -> (ProbeState, Vec<u128>) {
        let mut state = ProbeState::default();
        let mut pauses = Vec::new();
        for &answer in answers {
            let (next, pause) = step(state, answer, probe);
            state = next;
            pauses.push(pause.as_millis());
        }
        (state, pauses)
    }

    #[test]
    fn checks_are_eager_until_the_first_success_then_follow_the_manifest() {
        let (state, pauses) = run(
            &[false, false, false, false, false, false, true, true],
            &probe(),
        );
        assert_eq!(pauses, [10, 20, 40, 80, 100, 100, 10_000, 10_000]);
        assert!(state.passing);
    }

    #[test]
    fn a_ready_process_survives_fewer_failures_than_the_threshold() {
        let (state, _) = run(&[true, false, false], &probe());
        assert!(state.passing && !failed(&state, &probe()));
        let (state, _) = run(&[true, false, false, false], &probe());
        assert!(!state.passing && failed(&state, &probe()));
        let (state, _) = run(&[true, false, false, false, true], &probe());
        assert!(state.passing);
    }

    #[test]
    fn successes_must_come_in_a_row() {
        let strict = Probe {
            success_threshold: 2,
            ..probe()
        };
        let (state, pauses) = run(&[true, false, true], &strict);
        assert!(!state.passing);
        assert_eq!(pauses, [10, 20, 40]);
        let (state, _) = run(&[true, true], &strict);
        assert!(state.passing);
    }

    #[test]
    fn zero_thresholds_and_periods_never_spin() {
        let zero = Probe {
            period_seconds: 0,
            failure_threshold: 0,
            success_threshold: 0,
            ..probe()
        };
        let (state, pauses) = run(&[true, false], &zero);
        assert_eq!(pauses, [1_000, 1_000]);
        assert!(!state.passing);
    }
}
