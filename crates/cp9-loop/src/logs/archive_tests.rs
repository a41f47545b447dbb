//! Two generations, read forward and backward.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use cp9_model::report::LogLine;
use cp9_tools::{Clock, Environment};

use super::*;

struct Place {
    _dir: tempfile::TempDir,
    doors: Doors,
    path: Utf8PathBuf,
    archive: Archive,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = Utf8PathBuf::from_path_buf(dir.path().join("api.jsonl")).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        Self {
            archive: Archive::open(&doors, path.clone()),
            _dir: dir,
            doors,
            path,
        }
    }

    fn write(&mut self, resource: &str, offset: u64, text: &str) {
        let line = LogLine {
            time: "2026-01-02T12:00:00Z".into(),
            service: "api".into(),
            resource: resource.into(),
            level: None,
            trace_id: None,
            text: text.into(),
        };
        let record = serde_json::to_string(&Record { line, offset }).expect("serialises");
        self.archive.append(&self.doors, &record).expect("appends");
    }

    fn keep(&mut self, limit: u64, offset: u64) {
        let mark = |resource: &str| Mark {
            service: "api".into(),
            resource: resource.into(),
            offset,
        };
        self.archive
            .keep(&self.doors, limit, [mark("api"), mark("build")].into_iter());
    }

    fn texts(&self, cursor: &mut Cursor) -> Vec<String> {
        let mut texts = Vec::new();
        let mut take = |entry| match entry {
            Entry::Line(record) => texts.push(record.line.text),
            Entry::Mark(mark) => texts.push(format!("{} {}", mark.resource, mark.offset)),
        };
        cursor.advance(&self.path, &mut take).expect("reads");
        texts
    }
}

#[test]
fn a_full_generation_is_put_aside_and_readers_follow() {
    let mut place = Place::new();
    let (mut early, mut late) = (Cursor::default(), Cursor::default());
    assert_eq!(place.texts(&mut early), Vec::<String>::new());
    place.write("api", 1, "one");
    place.keep(1 << 20, 1);
    assert_eq!(place.texts(&mut early), ["one"]);
    place.write("api", 2, "two");
    place.keep(1, 2);
    place.write("api", 3, "three");
    assert_eq!(
        place.texts(&mut early),
        ["two", "api 2", "build 2", "three"]
    );
    assert_eq!(place.texts(&mut early), Vec::<String>::new());
    assert_eq!(
        place.texts(&mut late),
        ["one", "two", "api 2", "build 2", "three"]
    );

    place.keep(1, 3);
    let mut third = Cursor::default();
    assert_eq!(
        place.texts(&mut third),
        ["api 2", "build 2", "three", "api 3", "build 3"],
        "the first generation is gone"
    );
    // A kill between the two steps of putting one aside.
    std::fs::remove_file(&place.path).expect("remove");
    assert_eq!(
        place.texts(&mut Cursor::default()),
        ["api 2", "build 2", "three"]
    );
}

#[test]
fn the_last_offset_is_found_from_the_end_in_either_generation() {
    let mut place = Place::new();
    assert_eq!(place.archive.last_offset("api"), 0);
    place.write("build", 7, "b");
    for number in 1..=3_000 {
        place.write("api", number, &"x".repeat(100));
    }
    place.write("api", 4_000, &"long ".repeat(60_000));
    assert_eq!(place.archive.last_offset("api"), 4_000);
    assert_eq!(place.archive.last_offset("build"), 7);
    assert_eq!(place.archive.last_offset("none"), 0);
    std::fs::rename(&place.path, older(&place.path)).expect("rename");
    assert_eq!(place.archive.last_offset("build"), 7);
    place.write("api", 4_001, "x");
    assert_eq!(place.archive.last_offset("api"), 4_001);
    place.keep(1, 5_000);
    assert_eq!(place.archive.last_offset("build"), 5_000, "by its mark");
}

#[test]
fn a_record_cut_short_hides_none_before_and_after_it() {
    let mut place = Place::new();
    place.write("api", 1, "one");
    let text = place.doors.read_text(&place.path).expect("index");
    let cut = format!("{text}{}", &text[..20]);
    place
        .doors
        .write_atomic(&place.path, cut.as_bytes(), 0o600)
        .expect("write");
    assert_eq!(place.archive.last_offset("api"), 1);
    place.archive = Archive::open(&place.doors, place.path.clone());
    place.write("api", 2, "two");
    assert_eq!(place.texts(&mut Cursor::default()), ["one", "two"]);
}

#[test]
fn marks_come_often_enough_to_spare_reading_back_far() {
    let mut place = Place::new();
    place.write("api", 1, "one");
    place.keep(u64::MAX, 1);
    assert_eq!(place.texts(&mut Cursor::default()), ["one"]);
    place.write("api", 2, &"x".repeat(1 << 20));
    place.keep(u64::MAX, 2);
    place.write("api", 3, "three");
    place.keep(u64::MAX, 3);
    let texts = place.texts(&mut Cursor::default());
    assert_eq!(texts.len(), 5);
    assert_eq!(texts[2..4], ["api 2", "build 2"]);
}
