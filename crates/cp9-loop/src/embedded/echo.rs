//! Builds that write into files that they watch. Who writes a file cannot be known; one that changes
//! while builds run, build after build, and never otherwise, is taken to be written by them.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

/// Builds in a row that may be started by such changes alone. A person who saves may have the bad luck
/// of the second, not of all, and the next save starts a build again.
const ROUNDS: u32 = 5;
/// Builds whose times are remembered.
const SPANS: usize = 32;
/// The times of files come from a coarser clock.
const GRAIN_NANOS: i128 = 10_000_000;

/// Which of the watched files changed, and when, in nanoseconds since 1970.
pub(super) type Changed = Vec<(PathBuf, i128)>;

/// When builds ran, in nanoseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Spans {
    running: BTreeMap<String, i128>,
    ended: VecDeque<(i128, i128)>,
}

impl Spans {
    /// A build begins.
    pub(super) fn begin(&mut self, build: &str, now: i128) {
        self.running.insert(build.to_owned(), now);
    }

    /// A build has ended.
    pub(super) fn end(&mut self, build: &str, now: i128) {
        let began = self.running.remove(build);
        self.ended.extend(began.map(|began| (began, now)));
        while self.ended.len() > SPANS {
            self.ended.pop_front();
        }
    }

    /// True when all changes were made while a build ran.
    pub(super) fn cover(&self, changed: &Changed) -> bool {
        let within = |at: i128| {
            let mut running = self.running.values();
            let mut ended = self.ended.iter();
            running.any(|began| began - GRAIN_NANOS <= at)
                || ended.any(|(began, end)| (began - GRAIN_NANOS..=*end).contains(&at))
        };
        !changed.is_empty() && changed.iter().all(|(_, at)| within(*at))
    }
}

/// What a build's machine remembers of such changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Echo {
    /// The files that changed each time.
    files: Vec<PathBuf>,
    /// Ended builds that were followed by nothing else.
    rounds: u32,
    /// The last of those.
    counted: u64,
}

impl Echo {
    /// Files changed while builds ran.
    pub(super) fn hear(&mut self, files: Vec<PathBuf>) {
        let again: Vec<PathBuf> = files
            .iter()
            .filter(|file| self.files.contains(file))
            .cloned()
            .collect();
        if again.is_empty() {
            *self = Self {
                files,
                ..Self::default()
            };
        } else {
            self.files = again;
        }
    }

    /// True when the builds are likely to write these files, so that none need end for them.
    pub(super) fn is_likely(&self) -> bool {
        self.rounds > 0
    }

    /// Whether another build may start, `ended` being the number of the last that came to its end.
    pub(super) fn may_build(&mut self, ended: u64) -> bool {
        if !self.files.is_empty() && ended > self.counted {
            self.counted = ended;
            self.rounds += 1;
        }
        self.rounds < ROUNDS
    }

    /// Why no further build starts, if that is so.
    pub(super) fn message(&self) -> Option<String> {
        let file = self.files.first().filter(|_| self.rounds >= ROUNDS)?;
        Some(format!(
            "`{}` changed during each of the last {ROUNDS} builds, which seem to write it themselves: the next \
             build waits for another change; name the file under `build.ignore`",
            file.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;

    #[test]
    fn a_change_is_covered_by_builds_that_ran_then() {
        let mut spans = Spans::default();
        let at = |seconds: i128| vec![(PathBuf::from("/a"), seconds * SECOND)];
        spans.begin("api", 10 * SECOND);
        assert!(spans.cover(&at(11)) && !spans.cover(&at(9)));
        spans.end("api", 12 * SECOND);
        spans.begin("web", 20 * SECOND);
        assert!(spans.cover(&at(12)) && !spans.cover(&at(13)) && spans.cover(&at(21)));
        assert!(!spans.cover(&[at(11), at(13)].concat()));
        assert!(!spans.cover(&Vec::new()), "unknown changes are anybody's");
        for round in 0..40 {
            spans.begin("api", (100 + round) * SECOND);
            spans.end("api", (100 + round) * SECOND);
        }
        assert!(!spans.cover(&at(11)), "long forgotten");
    }

    #[test]
    fn only_the_same_files_again_and_again_count() {
        let mut echo = Echo::default();
        let files = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        for ended in 1..u64::from(ROUNDS) {
            echo.hear(files(&["/log", "/main"]));
            assert!(echo.may_build(ended) && echo.may_build(ended));
        }
        echo.hear(files(&["/other"]));
        assert!(echo.may_build(5) && echo.message().is_none());
        for ended in 6..10 {
            echo.hear(files(&["/log", "/other"]));
            assert_eq!(echo.may_build(ended), ended < 9);
        }
        assert!(echo.message().is_some_and(|text| text.contains("`/other`")));
    }
}
