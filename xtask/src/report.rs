//! Checks as they are reported: a name, what was found, how long it took.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;

/// Something that a check found wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// `path:line`, a crate or a command.
    pub(crate) place: String,
    /// What is wrong and what to do.
    pub(crate) what: String,
}

impl Finding {
    /// A finding at a line (counted from 1) of a file.
    pub(crate) fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            place: format!("{path}:{line}"),
            what: what.into(),
        }
    }

    /// A finding about a whole file, crate or command.
    pub(crate) fn about(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

/// The checks that have run.
#[derive(Debug)]
pub(crate) struct Checks {
    done: Vec<(String, bool, Duration)>,
    say: fn(&str),
}

impl Checks {
    /// Nothing has run yet; each line goes to `say`.
    pub(crate) fn new(say: fn(&str)) -> Self {
        Self {
            done: Vec::new(),
            say,
        }
    }

    /// Runs a check, prints its line and what it found. A check that could not run has failed.
    pub(crate) fn run(&mut self, name: &str, check: impl FnOnce() -> Result<Vec<Finding>>) -> bool {
        let start = Instant::now();
        let found = check().unwrap_or_else(|err| vec![Finding::about(name, format!("{err:#}"))]);
        let ok = found.is_empty();
        let took = start.elapsed();
        (self.say)(&line(name, ok, took));
        for finding in &found {
            (self.say)(&format!("      {}: {}", finding.place, finding.what));
        }
        self.done.push((name.to_owned(), ok, took));
        ok
    }

    /// True when no check failed.
    pub(crate) fn ok(&self) -> bool {
        self.done.iter().all(|(_, ok, _)| *ok)
    }

    /// Every check again, for the end of a long output.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        for (name, ok, took) in &self.done {
            let _ = writeln!(text, "{}", line(name, *ok, *took));
        }
        text.trim_end().to_owned()
    }
}

fn line(name: &str, ok: bool, took: Duration) -> String {
    let word = if ok { "ok  " } else { "FAIL" };
    format!("{word}  {name:<24} {:>8.2} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_fails_by_findings_and_by_not_running() {
        let mut checks = Checks::new(|_| ());
        assert!(checks.run("clean", || Ok(vec![])));
        assert!(checks.ok());
        assert!(!checks.run("dirty", || Ok(vec![Finding::at("a.rs", 3, "bad")])));
        assert!(!checks.run("broken", || anyhow::bail!("no such program")));
        assert!(!checks.ok());
        let summary = checks.summary();
        let words: Vec<&str> = summary.lines().map(|line| &line[..4]).collect();
        assert_eq!(words, ["ok  ", "FAIL", "FAIL"]);
    }
}
