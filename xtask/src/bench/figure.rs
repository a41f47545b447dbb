//! A measured figure beside its bound.

use std::fmt::Write as _;
use std::time::Duration;

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) measured: f64,
    /// The most allowed.
    pub(crate) bound: f64,
}

impl Figure {
    /// A figure in any unit.
    pub(crate) fn new(name: &'static str, unit: &'static str, measured: f64, bound: f64) -> Self {
        Self {
            name,
            unit,
            measured,
            bound,
        }
    }

    /// The 95th percentile of durations, in milliseconds.
    pub(crate) fn p95_millis(name: &'static str, times: &[Duration], bound: f64) -> Self {
        Self::new(name, "ms", p95(times).as_secs_f64() * 1000.0, bound)
    }

    /// True when the bound holds. A figure that is no number holds nothing.
    pub(crate) fn holds(&self) -> bool {
        self.measured <= self.bound
    }
}

/// The smallest value that at least 95 of 100 do not exceed; an hour if there is none.
fn p95(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * 95).div_ceil(100);
    rank.checked_sub(1)
        .and_then(|index| sorted.get(index).copied())
        .unwrap_or(Duration::from_hours(1))
}

/// All figures as a table that reads in a terminal and in Markdown.
pub(crate) fn table(figures: &[Figure]) -> String {
    let mut text = format!(
        "| {:<58} | {:>10} | {:>10} | {:<4} |\n",
        "figure", "measured", "bound", ""
    );
    let _ = writeln!(text, "|{:-<60}|{:->11}:|{:->11}:|{:-<6}|", "", "", "", "");
    for figure in figures {
        let measured = format!("{:.2} {}", figure.measured, figure.unit);
        let bound = format!("{} {}", figure.bound, figure.unit);
        let verdict = if figure.holds() { "ok" } else { "MISS" };
        let _ = writeln!(
            text,
            "| {:<58} | {measured:>10} | {bound:>10} | {verdict:<4} |",
            figure.name
        );
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p95_is_a_measured_value() {
        let times: Vec<Duration> = (1..=30).rev().map(Duration::from_millis).collect();
        assert_eq!(p95(&times), Duration::from_millis(29));
        assert_eq!(p95(&times[..1]), Duration::from_millis(30));
        assert_eq!(
            p95(&[]),
            Duration::from_hours(1),
            "nothing measured must not look fast"
        );
    }

    #[test]
    fn a_miss_is_shown() {
        let figures = [
            Figure::new("size", "MB", 12.345, 20.0),
            Figure::new("nothing", "ms", f64::NAN, 5.0),
        ];
        let table = table(&figures);
        assert!(
            table
                .lines()
                .nth(2)
                .is_some_and(|row| row.contains("12.35 MB") && row.ends_with("| ok   |")),
            "{table}"
        );
        assert!(
            table
                .lines()
                .nth(3)
                .is_some_and(|row| row.ends_with("| MISS |")),
            "{table}"
        );
    }
}
