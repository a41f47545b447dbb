//! The clock against that of the cloud, whose answers carry the time: a signature made with a wrong one is
//! refused. On this machine alone there is nothing to compare it with, and cp9 asks no time server.

use cp9_model::report::doctor::Finding;

use super::identity::Facts;

/// The check's name.
pub(super) const CHECK: &str = "clock";

/// Seconds of difference that a person should know of; AWS refuses from 300 on.
const TOLD: u64 = 30;

/// Judges the difference.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let Some(clock) = facts.clock else {
        return Vec::new();
    };
    let seconds = clock.as_secs();
    if seconds.unsigned_abs() < TOLD {
        let text = format!("within {TOLD} s of the time of AWS");
        return vec![Finding::ok(CHECK, "clock", text)];
    }
    let word = if seconds > 0 { "behind" } else { "ahead of" };
    let text = format!("{} s {word} the time of AWS", seconds.unsigned_abs());
    let finding = Finding::warning(CHECK, "clock-skew", text);
    vec![finding.remedy("set the clock, for example with `timedatectl set-ntp true`")]
}

#[cfg(test)]
mod tests {
    use super::super::identity::tests::facts;
    use super::*;

    #[test]
    fn a_clock_that_is_off_is_told_with_its_direction() {
        assert_eq!(judge(&facts(None, -29, None)).remove(0).id, "clock");
        let behind = judge(&facts(None, 45, None)).remove(0);
        assert_eq!(behind.id, "clock-skew");
        assert_eq!(behind.finding, "45 s behind the time of AWS");
        assert!(
            judge(&facts(None, -600, None))
                .remove(0)
                .finding
                .contains("ahead")
        );
    }
}
