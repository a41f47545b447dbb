//! What one resource watches as the watcher's thread keeps it, and what it has learned: paths whose
//! events mean nothing, because an ignore file keeps them out of the walk.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::sources::{Filter, Found, Stamp, WatchSet};

/// How many ignored paths are remembered for each resource.
const IGNORED_LIMIT: usize = 4096;

/// A resource and its watched files.
pub(super) struct Watched {
    pub(super) name: String,
    pub(super) set: WatchSet,
    /// What the last walk found.
    pub(super) found: Found,
    /// True when something may have changed since.
    pub(super) concerned: bool,
    /// The digest that was reported last.
    pub(super) reported: Option<String>,
    filter: Filter,
    /// Event paths that turned out not to be source, so that their next event costs nothing.
    ignored: HashSet<PathBuf>,
    /// Event paths since the last look.
    touched: HashSet<PathBuf>,
}

impl Watched {
    /// A resource that was never looked at.
    pub(super) fn new(name: String, set: WatchSet) -> Self {
        Self {
            name,
            filter: set.filter(),
            set,
            found: Found::default(),
            concerned: true,
            reported: None,
            ignored: HashSet::new(),
            touched: HashSet::new(),
        }
    }

    /// Takes note of an event; true when it matters.
    pub(super) fn touch(&mut self, path: &Path) -> bool {
        let own = self.filter.concerns(path) && !self.ignored.contains(path);
        let matters = own || self.found.leads_over(path);
        if matters {
            self.concerned = true;
            self.touched.insert(path.to_owned());
        }
        matters
    }

    /// The folders of the touched paths in which nothing has come or gone for a moment. To be
    /// taken before a walk, for `learn` after it.
    pub(super) fn resting(&self, now: i128) -> HashMap<PathBuf, Stamp> {
        let folders = self.touched.iter().filter_map(|path| path.parent());
        let folders: HashSet<&Path> = folders.collect();
        folders
            .into_iter()
            .filter_map(|folder| Some((folder.to_owned(), stamp(folder)?)))
            .filter(|(_, stamp)| stamp.settled(now))
            .collect()
    }

    /// Learns which of the touched paths are no source. A path that a walk did not find may have
    /// been away for just that moment; it is ignored for sure only if its folder has not changed
    /// since before the walk, so that what is there now was there all the time.
    pub(super) fn learn(&mut self, resting: &HashMap<PathBuf, Stamp>) {
        let sources: HashSet<&Path> = self
            .found
            .files
            .iter()
            .map(|(_, path)| path.as_path())
            .collect();
        if self.touched.iter().any(|path| is_rule(path)) || self.ignored.len() > IGNORED_LIMIT {
            self.ignored.clear();
        }
        let rested = |path: &Path| {
            path.parent().is_some_and(|folder| {
                resting
                    .get(folder)
                    .is_some_and(|before| stamp(folder) == Some(*before))
            })
        };
        // Folders are not learned: a pattern for folders alone spares a file of the same name.
        let is_there =
            |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_dir());
        for path in self.touched.drain() {
            let source = sources.contains(path.as_path());
            if !source && !is_rule(&path) && is_there(&path) && rested(&path) {
                self.ignored.insert(path);
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = std::fs::metadata(path).ok()?;
    Some(Stamp::of(&facts))
}

fn is_rule(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == ".gitignore" || name == ".ignore")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests change their own files")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Later than every stamp, so that what is on disk counts as at rest.
    const LATER: i128 = i128::MAX;

    fn place() -> (tempfile::TempDir, Watched) {
        let dir = tempfile::tempdir().expect("tempdir");
        let text = format!(
            r#"{{"apiVersion":"cp9.devplan/v1","session":"s","roots":{{"src":{:?}}},"resources":[
                {{"name":"a","service":"a","kind":"build","cwd":"/","trigger":"auto","watch":["${{src}}"]}}]}}"#,
            dir.path()
        );
        let plan: cp9_model::devplan::DevPlan = serde_json::from_str(&text).expect("a plan");
        let set = WatchSet::of(&plan, &plan.resources[0]);
        (dir, Watched::new("a".into(), set))
    }

    fn write(path: &Path) {
        let mut file = std::fs::OpenOptions::new();
        file.create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, b"x"))
            .expect("write");
    }

    #[test]
    fn what_an_ignore_file_keeps_out_costs_one_look() {
        let (dir, mut watched) = place();
        let log = dir.path().join("a.log");
        write(&log);
        std::fs::rename(&log, dir.path().join(".gitignore")).expect("rename");
        let rule = "*.log\n";
        let open = std::fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(dir.path().join(".gitignore"));
        std::io::Write::write_all(&mut open.expect("open"), rule.as_bytes()).expect("write");
        write(&log);
        assert!(watched.touch(&log));
        let resting = watched.resting(LATER);
        watched.found = watched.set.walk();
        write(&log);
        watched.learn(&resting);
        assert!(!watched.touch(&log), "appending to it is nothing new");

        assert!(watched.touch(&dir.path().join(".gitignore")));
        watched.learn(&resting);
        assert!(watched.touch(&log), "the rules may be others now");
    }

    #[test]
    fn a_path_that_was_away_during_the_walk_is_not_taken_for_ignored() {
        let (dir, mut watched) = place();
        let file = dir.path().join("main.rs");
        write(&file);
        assert!(watched.touch(&file));
        let resting = watched.resting(LATER);
        std::fs::remove_file(&file).expect("remove");
        watched.found = watched.set.walk();
        write(&file);
        watched.learn(&resting);
        assert!(watched.touch(&file));
    }

    #[test]
    fn a_path_in_a_folder_that_just_changed_is_not_judged() {
        let (dir, mut watched) = place();
        let file = dir.path().join("main.rs");
        assert!(watched.touch(&file));
        let resting = watched.resting(0);
        watched.found = watched.set.walk();
        write(&file);
        watched.learn(&resting);
        assert!(watched.touch(&file));
    }

    #[test]
    fn an_ignored_folder_says_nothing_of_a_file_of_its_name() {
        let (dir, mut watched) = place();
        let folder = dir.path().join("out");
        std::fs::create_dir(&folder).expect("folder");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("mode");
        watched.touch(&folder);
        let resting = watched.resting(LATER);
        watched.learn(&resting);
        assert!(watched.touch(&folder));
    }
}
