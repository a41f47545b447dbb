//! The indexer keeps raw files and indexes within their limits, and loses no line by it.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use std::io::Write;

use cp9_tools::{Clock, Environment};

use super::super::query::{Query, read};
use super::*;

const SMALL: Limits = Limits {
    index: 64 << 10,
    raw: 256 << 10,
    raw_kept: 16 << 10,
};

struct Place {
    dir: tempfile::TempDir,
    doors: Doors,
    writer: std::fs::File,
    written: usize,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        for name in ["logs/raw", "logs/index"] {
            let path = Utf8Path::from_path(dir.path()).expect("utf-8").join(name);
            doors.create_private_dir(&path).expect("dir");
        }
        let writer = std::fs::File::options()
            .create(true)
            .append(true)
            .open(dir.path().join("logs/raw/api.log"))
            .expect("open");
        Self {
            dir,
            doors,
            writer,
            written: 0,
        }
    }

    fn folder(&self) -> &Utf8Path {
        Utf8Path::from_path(self.dir.path()).expect("utf-8")
    }

    fn rounds(&self) -> Rounds {
        Rounds {
            doors: self.doors.clone(),
            raw: self.folder().join("logs/raw"),
            index: self.folder().join("logs/index"),
            resources: BTreeMap::new(),
            tails: BTreeMap::new(),
            archives: BTreeMap::new(),
            limits: SMALL,
        }
    }

    /// About 128 bytes a line.
    fn write(&mut self, lines: usize) {
        for _ in 0..lines {
            let line = format!("{:06} {}\n", self.written, "x".repeat(120));
            self.writer.write_all(line.as_bytes()).expect("write");
            self.written += 1;
        }
    }

    fn last(&self) -> Vec<String> {
        let lines = read(&self.doors, self.folder(), &Query::default()).expect("reads");
        let number = |text: &str| text.get(..6).unwrap_or_default().to_owned();
        lines.iter().map(|line| number(&line.text)).collect()
    }

    fn expected(&self) -> Vec<String> {
        (self.written - 200..self.written)
            .map(|number| format!("{number:06}"))
            .collect()
    }

    fn size(&self, name: &str) -> (u64, u64) {
        let facts = std::fs::metadata(self.folder().join(name)).expect("file");
        (facts.len(), facts.blocks() * 512)
    }
}

#[test]
fn raw_files_and_indexes_are_bounded_and_lose_no_line() {
    let mut place = Place::new();
    let mut rounds = place.rounds();
    for _ in 0..10 {
        place.write(1_000);
        rounds.drain();
        assert_eq!(place.last(), place.expected());
    }
    let (length, room) = place.size("logs/raw/api.log");
    assert!(
        length < 10 * 128 * 1_000 || room <= 2 * SMALL.raw,
        "{length} {room}"
    );
    // What one round writes comes on top.
    let (index, _) = place.size("logs/index/api.jsonl");
    let (older, _) = place.size("logs/index/api.jsonl.1");
    assert!(
        index < 3 * BUDGET as u64 && older < 3 * BUDGET as u64,
        "{index} {older}"
    );

    // The next controller goes on where this one was, and lines come while none is there.
    drop(rounds);
    place.write(300);
    assert_eq!(place.last(), place.expected(), "from the raw file");
    place.rounds().drain();
    assert_eq!(place.last(), place.expected(), "from the index");
}

#[test]
fn a_quiet_resource_is_not_indexed_again_when_its_lines_have_left_the_index() {
    let mut place = Place::new();
    let raw = place.folder().join("logs/raw/api-live-binary.log");
    place.doors.append_line(&raw, "built once").expect("write");
    let mut rounds = place.rounds();
    rounds
        .resources
        .insert("api-live-binary".into(), "api".into());
    for _ in 0..6 {
        place.write(1_000);
        rounds.drain();
    }
    let all = Query {
        all: true,
        ..Query::default()
    };
    let built = || {
        let lines = read(&place.doors, place.folder(), &all).expect("reads");
        lines
            .iter()
            .filter(|line| line.text == "built once")
            .count()
    };
    assert_eq!(built(), 0, "its generation is gone");
    let mut next = place.rounds();
    next.resources
        .insert("api-live-binary".into(), "api".into());
    next.drain();
    assert_eq!(built(), 0);
    place.doors.append_line(&raw, "built once").expect("write");
    next.drain();
    assert_eq!(built(), 1);
}

#[test]
fn where_no_room_can_be_given_back_the_file_is_emptied_and_followed() {
    let mut place = Place::new();
    let mut rounds = place.rounds();
    place.write(1_000);
    rounds.drain();
    let tail = rounds.tails.get_mut("api").expect("a tail");
    assert!(tail.empty(&place.doors));
    assert_eq!(place.size("logs/raw/api.log").0, 0);
    rounds.advance("api");
    place.write(500);
    rounds.drain();
    assert_eq!(place.last(), place.expected());
    // Nobody was told, and the next one takes a shorter file for a new one.
    place.write(10);
    place.rounds().drain();
    assert_eq!(place.last(), place.expected());
}
