//! What a process has printed of a secret is written over where it stands.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use std::io::Write;

use camino::Utf8PathBuf;
use cp9_tools::{Clock, Environment, Secret};

use super::super::raw::RawTail;
use super::super::record::clean;
use super::*;

const VALUE: &str = "hunter22";

struct Place {
    _dir: tempfile::TempDir,
    raw: Utf8PathBuf,
    doors: Doors,
    tail: RawTail,
    masks: Masks,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let raw = Utf8PathBuf::from_path_buf(dir.path().join("api.log")).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        doors.redactor.add(&Secret::new(VALUE.to_owned()));
        Self {
            _dir: dir,
            tail: RawTail::new(raw.clone(), 0),
            masks: Masks::new(doors.redactor.clone()),
            raw,
            doors,
        }
    }

    fn write(&self, bytes: &[u8]) {
        let file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&self.raw);
        file.and_then(|mut file| file.write_all(bytes))
            .expect("written");
    }

    /// One round of the indexer; how many places were to be written over.
    fn round(&mut self) -> usize {
        let redactor = self.doors.redactor.clone();
        let masks = &mut self.masks;
        let mut take = |line: RawLine<'_>| masks.line(line, &clean(line.bytes, &redactor));
        while self.tail.advance(1 << 20, &mut take).expect("read") {}
        if let Some(line) = self.tail.unfinished() {
            self.masks.unfinished(line);
        }
        let count = self.masks.waiting.len();
        self.masks.lay(&self.doors, &self.raw);
        count
    }

    fn text(&self) -> String {
        let bytes = std::fs::read(&self.raw).expect("read");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[test]
fn only_what_tells_is_written_over_and_no_offset_moves() {
    let mut place = Place::new();
    place.write(b"plain *** \xff\npass hunter22, then\nlast\n");
    assert_eq!(place.round(), 1);
    assert_eq!(
        place.text(),
        "plain *** \u{fffd}\npass ***, then     \nlast\n"
    );
    assert_eq!(place.round(), 0, "its own change is no news");
}

#[test]
fn a_line_without_an_end_is_masked_as_it_grows() {
    let mut place = Place::new();
    place.write(b"a\npass hunt");
    assert_eq!(place.round(), 0);
    place.write(b"er22 and");
    assert_eq!(place.round(), 1);
    assert_eq!(place.text(), "a\npass *** and     ");
    assert_eq!(place.round(), 0);
    place.write(b" hunter22\n");
    assert_eq!(place.round(), 1);
    assert!(!place.text().contains(VALUE), "{}", place.text());
    assert!(place.text().ends_with(" \n"));
}

#[test]
fn nothing_stays_of_what_nobody_looked_at() {
    let mut place = Place::new();
    let long = format!("{}{VALUE}", "x".repeat(200 * 1024));
    place.write(format!("{long}\nnext\n").as_bytes());
    assert_eq!(place.round(), 1);
    let text = place.text();
    assert!(!text.contains(VALUE) && text.ends_with(" \nnext\n"));
    assert_eq!(text.len(), long.len() + 6);
}

#[test]
fn a_file_that_was_emptied_meanwhile_does_not_grow() {
    let mut place = Place::new();
    place.write(b"pass hunter22\n");
    let redactor = place.doors.redactor.clone();
    let masks = &mut place.masks;
    let mut take = |line: RawLine<'_>| masks.line(line, &clean(line.bytes, &redactor));
    place.tail.advance(1 << 20, &mut take).expect("read");
    std::fs::write(&place.raw, b"").expect("emptied");
    place.masks.lay(&place.doors, &place.raw);
    assert_eq!(place.text(), "");
}
