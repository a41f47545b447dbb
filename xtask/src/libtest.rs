//! Reads what `cargo test` prints: how many tests passed, failed and were skipped.

use std::collections::BTreeMap;

/// The sum over all test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests marked `#[ignore]`.
    pub(crate) ignored: u64,
    /// What tests said they skipped, with the reason.
    pub(crate) skips: BTreeMap<String, String>,
}

impl Tally {
    /// Takes in one line. A skip is `SKIP: <what>: <why>`, written by the test straight to stderr
    /// (what a passing test prints is captured); the same `what` counts once.
    pub(crate) fn feed(&mut self, line: &str) {
        let line = strip_colour(line);
        if let Some(rest) = line.strip_prefix("test result: ") {
            self.passed += count(rest, "passed");
            self.failed += count(rest, "failed");
            self.ignored += count(rest, "ignored");
        } else if let Some((what, why)) = line
            .strip_prefix("SKIP: ")
            .and_then(|rest| rest.split_once(": "))
        {
            self.skips
                .insert(what.trim().to_owned(), why.trim().to_owned());
        }
    }

    /// Skips of things that must never be skipped in CI.
    pub(crate) fn refused<'a>(&'a self, required: &'a [&str]) -> Vec<&'a str> {
        self.skips
            .keys()
            .map(String::as_str)
            .filter(|what| required.contains(what))
            .collect()
    }

    /// The closing line.
    pub(crate) fn closing(&self) -> String {
        let skipped = self.ignored + self.skips.len() as u64;
        format!(
            "{} passed, {} failed, {skipped} skipped",
            self.passed, self.failed
        )
    }
}

/// The number before a word, as in `3 passed`.
fn count(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = words
        .iter()
        .position(|found| found.trim_end_matches(';') == word);
    place
        .and_then(|place| words.get(place.checked_sub(1)?)?.parse().ok())
        .unwrap_or(0)
}

/// Removes `ESC [ … m`.
fn strip_colour(line: &str) -> String {
    let mut rest = line;
    let mut plain = String::with_capacity(line.len());
    while let Some(start) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..start]);
        let tail = &rest[start..];
        rest = tail.find('m').map_or("", |end| &tail[end + 1..]);
    }
    plain.push_str(rest);
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(text: &str) -> Tally {
        let mut tally = Tally::default();
        text.lines().for_each(|line| tally.feed(line));
        tally
    }

    #[test]
    fn sums_the_results_of_all_binaries() {
        let tally = tally(
            "running 5 tests\ntest a ... ok\n\
             test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 1 filtered out; finished in 0.00s\n\
             test result: \u{1b}[31mFAILED\u{1b}[0m. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n",
        );
        assert_eq!(tally.closing(), "7 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn counts_skips_and_knows_which_are_refused() {
        let tally = tally(
            "SKIP: k3d: not on PATH\nSKIP: k3d: not on PATH\n  SKIP: x: y\nSKIP: rustc: gone\nSKIP: bad\n",
        );
        assert_eq!(tally.closing(), "0 passed, 0 failed, 2 skipped");
        assert_eq!(tally.refused(&["rustc", "git"]), ["rustc"]);
    }

    #[test]
    fn survives_lines_that_only_look_like_results() {
        assert_eq!(
            tally("test result: \npassed\ntest result: passed\n\u{1b}[\n"),
            Tally::default()
        );
    }
}
