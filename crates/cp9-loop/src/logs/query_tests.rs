//! Readers and the indexer on files alone.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use std::io::Write;

use cp9_tools::{Clock, Environment};

use super::super::index::Indexer;
use super::*;

struct Place {
    dir: tempfile::TempDir,
    doors: Doors,
}

impl Place {
    fn new() -> Self {
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        let place = Self {
            dir: tempfile::tempdir().expect("tempdir"),
            doors,
        };
        for name in ["logs/raw", "logs/index", "secrets"] {
            place
                .doors
                .create_private_dir(&place.path(name))
                .expect("dir");
        }
        place
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path())
            .expect("utf-8")
            .join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(name))
            .expect("open");
        file.write_all(text.as_bytes()).expect("write");
    }

    fn index(&self) {
        let folder = self.path("");
        Indexer::start(&self.doors, &folder, BTreeMap::new(), || ())
            .expect("starts")
            .finish();
    }

    fn read(&self, query: &Query) -> Vec<String> {
        let lines = read(&self.doors, &self.path(""), query).expect("reads");
        lines
            .into_iter()
            .map(|line| format!("{} {}", line.resource, line.text))
            .collect()
    }
}

fn all() -> Query {
    Query {
        all: true,
        ..Query::default()
    }
}

#[test]
fn nothing_is_no_error() {
    let dir = tempfile::tempdir().expect("tempdir");
    let doors = Doors::new(Environment::default(), Clock::system(), false);
    let folder = Utf8Path::from_path(dir.path()).expect("utf-8");
    assert_eq!(read(&doors, folder, &all()).expect("reads"), []);
}

#[test]
fn services_are_merged_in_the_order_of_time() {
    let place = Place::new();
    place.append(
        "logs/raw/api.log",
        "2026-01-02T12:00:00Z a1\n2026-01-02T12:00:02Z a2\n",
    );
    place.append(
        "logs/raw/db.log",
        "2026-01-02T12:00:01Z d1\n2026-01-02T12:00:00.5Z d0\n",
    );
    place.append("logs/raw/api-live-binary.log", "2026-01-02T11:59:00Z b\n");
    let expected = [
        "api-live-binary 2026-01-02T11:59:00Z b",
        "api 2026-01-02T12:00:00Z a1",
        "db 2026-01-02T12:00:00.5Z d0",
        "db 2026-01-02T12:00:01Z d1",
        "api 2026-01-02T12:00:02Z a2",
    ];
    assert_eq!(place.read(&all()), expected, "from raw files alone");
    place.index();
    assert_eq!(place.read(&all()), expected, "from the index alone");
    let api = Query {
        services: vec!["api".into()],
        ..all()
    };
    assert_eq!(place.read(&api).len(), 3);
    let late = Query {
        since: Some("2026-01-02T12:00:01Z".parse().expect("time")),
        ..all()
    };
    assert_eq!(place.read(&late).len(), 2);
}

#[test]
fn indexing_again_neither_loses_nor_repeats_a_line() {
    let place = Place::new();
    place.append("logs/raw/api.log", "one\ntw");
    place.index();
    assert_eq!(place.read(&all()), ["api one", "api tw"]);
    place.append("logs/raw/api.log", "o\nthree\n");
    assert_eq!(place.read(&all()), ["api one", "api two", "api three"]);
    place.index();
    place.index();
    assert_eq!(place.read(&all()), ["api one", "api two", "api three"]);
}

#[test]
fn a_record_cut_short_by_a_kill_is_made_again() {
    let place = Place::new();
    place.append("logs/raw/api.log", "one\ntwo\n");
    place.index();
    let index = place.path("logs/index/api.jsonl");
    let text = place.doors.read_text(&index).expect("index");
    let cut = text.len() - 20;
    place
        .doors
        .write_atomic(&index, &text.as_bytes()[..cut], 0o600)
        .expect("write");
    assert_eq!(place.read(&all()), ["api one", "api two"]);
    place.index();
    place.append("logs/raw/api.log", "three\n");
    place.index();
    assert_eq!(place.read(&all()), ["api one", "api two", "api three"]);
}

#[test]
fn only_the_last_lines_of_each_service_unless_all_are_wanted() {
    let place = Place::new();
    for number in 0..250 {
        place.append("logs/raw/api.log", &format!("{number}\n"));
    }
    place.append("logs/raw/db.log", "d\n");
    place.index();
    let last = place.read(&Query::default());
    assert_eq!(
        last.iter().filter(|line| line.starts_with("api")).count(),
        LAST
    );
    assert!(last.contains(&"api 249".to_owned()) && !last.contains(&"api 49".to_owned()));
    assert_eq!(place.read(&all()).len(), 251);
}

#[test]
fn raw_lines_are_redacted_by_the_sessions_secrets() {
    let place = Place::new();
    place.append("secrets/api.env", "TOKEN=hunter22\n");
    place.append("logs/raw/api.log", "token is hunter22\n");
    assert_eq!(place.read(&all()), ["api token is ***"]);
}

#[test]
fn a_level_keeps_what_is_as_bad() {
    let place = Place::new();
    place.append("logs/raw/api.log", "ERROR a\nWARN b\nplain\nDEBUG c\n");
    let least = |level| Query {
        min_level: Some(level),
        ..all()
    };
    assert_eq!(
        place.read(&least(Level::Warn)),
        ["api ERROR a", "api WARN b"]
    );
    assert_eq!(place.read(&least(Level::Info)).len(), 3);
}

#[test]
fn a_trace_is_found_in_indexed_and_raw_lines_and_told_with_each() {
    let place = Place::new();
    let keys = vec!["trace_id".to_owned()];
    place.append(
        "logs/raw/api.log",
        "2026-01-02T12:00:01.5Z INFO in trace_id=a1\n2026-01-02T12:00:02Z INFO trace_id=a11\n",
    );
    place.index();
    place.append(
        "logs/raw/db.log",
        "2026-01-02T12:00:01.25Z trace_id=\"A1\" first\nfor a1\n",
    );
    let query = Query {
        trace: Some(TraceId::parse("a1").expect("an id")),
        trace_keys: keys.clone(),
        ..all()
    };
    let lines = read(&place.doors, &place.path(""), &query).expect("reads");
    let told: Vec<_> = lines
        .iter()
        .map(|line| (line.resource.as_str(), line.trace_id.as_deref()))
        .collect();
    assert_eq!(
        told,
        [("db", Some("A1")), ("db", None), ("api", Some("a1"))]
    );
    assert_eq!(lines[0].time, "2026-01-02T12:00:01.250000Z");
    assert!(lines.is_sorted_by_key(|line| line.time.clone()));
    let every = Query {
        trace_keys: keys,
        ..all()
    };
    let lines = read(&place.doors, &place.path(""), &every).expect("reads");
    assert_eq!(
        lines.iter().filter(|line| line.trace_id.is_some()).count(),
        3
    );
}
