//! What counts as source, and when its digest moves.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use cp9_tools::{Clock, Environment};

use super::*;

struct Place {
    dir: tempfile::TempDir,
    doors: Doors,
}

impl Place {
    fn new() -> Self {
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        Self {
            dir: tempfile::tempdir().expect("tempdir"),
            doors,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = camino::Utf8PathBuf::from_path_buf(self.path(name)).expect("utf-8");
        self.doors
            .create_private_dir(path.parent().expect("parent"))
            .expect("dir");
        self.doors
            .write_atomic(&path, text.as_bytes(), 0o644)
            .expect("write");
    }

    fn set(&self, watch: &[&str], ignore: &[&str]) -> WatchSet {
        let root = |label: &&str| Root {
            label: (*label).to_owned(),
            path: self.path(label),
        };
        WatchSet {
            roots: watch.iter().map(root).collect(),
            ignore: ignore.iter().map(|i| (*i).to_owned()).collect(),
        }
    }

    fn labels(set: &WatchSet) -> Vec<String> {
        set.walk()
            .files
            .into_iter()
            .map(|(label, _)| label)
            .collect()
    }
}

#[test]
fn ignore_files_patterns_and_tool_folders_are_no_source() {
    let place = Place::new();
    for name in [
        "src/main.rs",
        "src/.env",
        "src/a.log",
        "src/out/x",
        "src/.git/HEAD",
        "src/.cp9/x/y",
        "src/sub/deep.rs",
    ] {
        place.write(name, "x");
    }
    place.write("src/.gitignore", "*.log\n");
    place.write("src/sub/.ignore", "deep.rs\n");
    let set = place.set(&["src"], &["out/"]);
    assert_eq!(
        Place::labels(&set),
        [
            "src/.env",
            "src/.gitignore",
            "src/main.rs",
            "src/sub/.ignore"
        ]
    );
}

#[test]
fn what_editors_leave_for_a_moment_is_no_source() {
    let place = Place::new();
    place.write("src/main.rs", "x");
    place.write("src/#notes", "x");
    let before = Place::labels(&place.set(&["src"], &[]));
    for name in [
        ".main.rs.swp",
        "main.rs~",
        "4913",
        "#main.rs#",
        "main.rs___jb_tmp___",
        ".cp9-tmp-1-2",
    ] {
        place.write(&format!("src/{name}"), "x");
    }
    std::os::unix::fs::symlink("me@host.1", place.path("src/.#main.rs")).expect("link");
    assert_eq!(Place::labels(&place.set(&["src"], &[])), before);
    assert_eq!(before, ["src/#notes", "src/main.rs"]);
}

#[test]
fn a_watched_folder_below_an_ignored_one_is_watched() {
    let place = Place::new();
    place.write(".gitignore", "*\n");
    place.write("src/main.rs", "x");
    assert_eq!(Place::labels(&place.set(&["src"], &[])), ["src/main.rs"]);
}

#[test]
fn single_files_and_missing_paths_work() {
    let place = Place::new();
    place.write("go.mod", "x");
    let set = place.set(&["go.mod", "later/src"], &[]);
    assert_eq!(Place::labels(&set), ["go.mod"]);
    assert!(set.walk().dirs.contains(place.dir.path()));
    let filter = set.filter();
    assert!(filter.concerns(&place.path("go.mod")) && filter.concerns(&place.path("later")));
    assert!(
        !filter.concerns(&place.path("other"))
            && !filter.concerns(&place.path("later/src/.git/index"))
    );
}

#[test]
fn events_of_what_the_plan_leaves_out_do_not_concern_it() {
    let place = Place::new();
    let filter = place
        .set(&["src", "src/out/kept"], &["out", "*.log"])
        .filter();
    for (path, concerns) in [
        ("src", true),
        ("src/a.rs", true),
        ("src/a.log", false),
        ("src/.a.rs.swp", false),
        ("src/out/x", false),
        ("src/out/kept/x", true),
        ("src/out/kept/x.log", false),
    ] {
        assert_eq!(filter.concerns(&place.path(path)), concerns, "{path}");
    }
    let named = place.set(&["gen.log"], &["*.log"]).filter();
    assert!(named.concerns(&place.path("gen.log")), "the plan names it");
}

#[test]
fn the_digest_follows_content_names_and_modes_only() {
    let place = Place::new();
    place.write("src/a", "1");
    let set = place.set(&["src"], &[]);
    let mut cache = DigestCache::default();
    let mut digest = || cache.digest(&place.doors, &mut set.walk());
    let first = digest();
    place.write("src/a", "1");
    assert_eq!(digest(), first, "rewritten with the same content");
    place.write("src/a", "2");
    let second = digest();
    assert_ne!(second, first);
    place.write("src/b", "2");
    let third = digest();
    assert_ne!(third, second);
    std::fs::rename(place.path("src/b"), place.path("src/c")).expect("rename");
    let fourth = digest();
    assert_ne!(fourth, third);
    std::fs::remove_file(place.path("src/c")).expect("remove");
    assert_eq!(digest(), second);
}

#[test]
fn quick_changes_of_the_same_size_are_never_missed() {
    let place = Place::new();
    let set = place.set(&["src"], &[]);
    let mut cache = DigestCache::default();
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..50 {
        place.write("src/a", &format!("{:02}", round % 100));
        assert!(
            seen.insert(cache.digest(&place.doors, &mut set.walk())),
            "round {round}"
        );
    }
}
