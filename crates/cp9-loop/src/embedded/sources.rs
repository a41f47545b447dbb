//! The watched files of a resource and their digest: what counts as source (ignore files
//! honoured), and a cache that spares reading files whose stamp has not moved.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use cp9_model::devplan::{DevPlan, Resource};
use cp9_tools::Doors;
use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::echo::Changed;
use super::links;

/// Never source, whatever ignore files say.
const NEVER: [&str; 2] = [".git", ".cp9"];
/// What editors and atomic writers put beside a file while it is open or being replaced; a plan's
/// own patterns come later and may take one back.
const PASSING: [&str; 14] = [
    "*.sw[a-p]",
    "*.swx",
    "*~",
    "4913",
    ".#*",
    "\\#*#",
    "*___jb_tmp___",
    "*___jb_old___",
    "*.kate-swp",
    ".goutputstream-*",
    ".DS_Store",
    ".nfs*",
    ".~lock.*",
    ".cp9-tmp-*",
];
/// A file whose stamp is this close to the moment it was read may change again without moving
/// the stamp.
const STAMP_GRAIN_NANOS: i128 = 20_000_000;

/// Of more files it is not said which of them changed.
const CHANGED_LIMIT: usize = 256;

/// What a resource watches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WatchSet {
    roots: Vec<Root>,
    ignore: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    /// As the plan names it, so that the digest does not depend on where it lies.
    label: String,
    path: PathBuf,
}

impl WatchSet {
    /// What the plan lets a resource watch; its own binary is followed through its build.
    pub(super) fn of(plan: &DevPlan, resource: &Resource) -> Self {
        let roots = resource
            .watch
            .iter()
            .filter(|label| Some(*label) != resource.binary.as_ref())
            .map(|label| Root {
                label: label.clone(),
                path: PathBuf::from(plan.expand(label)),
            })
            .collect();
        Self {
            roots,
            ignore: resource.ignore.clone(),
        }
    }

    /// True when there is nothing to watch.
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// What tells events that matter from those that do not.
    pub(super) fn filter(&self) -> Filter {
        let root = |root: &Root| (root.path.clone(), self.matcher(&root.path));
        Filter {
            roots: self.roots.iter().map(root).collect(),
        }
    }

    /// The files and folders there are now.
    pub(super) fn walk(&self) -> Found {
        let mut found = Found::default();
        for root in &self.roots {
            found.dirs.extend(root.path.parent().and_then(existing));
            if root.path.is_dir() {
                self.walk_dir(root, &mut found);
            } else if let Ok(facts) = root.path.symlink_metadata() {
                found.add_file(root.label.clone(), root.path.clone(), facts.is_symlink());
            }
        }
        found.files.sort();
        found.files.dedup();
        found
    }

    fn walk_dir(&self, root: &Root, found: &mut Found) {
        let before = found.files.len();
        self.collect(root, true, found);
        if found.files.len() == before {
            // A folder that the plan names is watched even if an ignore file above it says no.
            self.collect(root, false, found);
        }
    }

    fn collect(&self, root: &Root, parents: bool, found: &mut Found) {
        let own = self.matcher(&root.path);
        let walk = WalkBuilder::new(&root.path)
            .hidden(false)
            .parents(parents)
            .require_git(false)
            .git_global(false)
            .filter_entry(move |entry| {
                let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
                let never = NEVER.iter().any(|name| entry.file_name() == *name);
                entry.depth() == 0 || !(never || own.matched(entry.path(), is_dir).is_ignore())
            })
            .build();
        for entry in walk.flatten() {
            // The root is a folder even where it is reached through a link.
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            if is_dir || entry.depth() == 0 {
                found.dirs.insert(entry.into_path());
                continue;
            }
            let tail = entry
                .path()
                .strip_prefix(&root.path)
                .unwrap_or(entry.path());
            let label = format!("{}/{}", root.label, tail.to_string_lossy());
            found.add_file(label, entry.path().to_owned(), entry.path_is_symlink());
        }
    }

    fn matcher(&self, root: &Path) -> Gitignore {
        let mut builder = GitignoreBuilder::new(root);
        let passing = PASSING.iter().copied();
        for line in passing.chain(self.ignore.iter().map(String::as_str)) {
            // A pattern that cannot be read ignores nothing.
            let _ = builder.add_line(None, line);
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}

/// The nearest folder that exists, the path itself or one above it.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .find(|path| path.is_dir())
        .map(Path::to_owned)
}

/// Which events matter, by the names of their paths alone: what a plan's own patterns leave out
/// does not.
#[derive(Debug)]
pub(super) struct Filter {
    roots: Vec<(PathBuf, Gitignore)>,
}

impl Filter {
    /// True when a change of this path may change what is watched.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        let never = |tail: &Path| {
            tail.iter()
                .any(|part| NEVER.iter().any(|name| part == *name))
        };
        let left_out = |tail: &Path, own: &Gitignore| {
            let named = !tail.as_os_str().is_empty();
            named && own.matched_path_or_any_parents(tail, false).is_ignore()
        };
        self.roots
            .iter()
            .any(|(root, own)| match path.strip_prefix(root) {
                Ok(tail) => !never(tail) && !left_out(tail, own),
                Err(_) => root.starts_with(path),
            })
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Label and path of each file, in the order of the labels.
    pub(super) files: Vec<(String, PathBuf)>,
    /// Folders whose changes matter.
    pub(super) dirs: HashSet<PathBuf>,
    /// Where files that are links lead.
    places: HashSet<PathBuf>,
    /// What is known of each file's content, once that was looked at.
    contents: Vec<u64>,
}

impl Found {
    fn add_file(&mut self, label: String, path: PathBuf, is_link: bool) {
        if is_link {
            let places = links::places(&path);
            let dirs = places.iter().filter_map(|place| existing(place.parent()?));
            self.dirs.extend(dirs);
            self.places.extend(places);
        }
        self.files.push((label, path));
    }

    /// The files by which this walk differs from an earlier one, each with the moment of its last
    /// change. Nothing if that is not known or too many.
    pub(super) fn changed_since(&self, before: &Self) -> Changed {
        if before.contents.len() != before.files.len() || before.files.is_empty() {
            return Vec::new();
        }
        let (old, new) = (before.known(), self.known());
        let differs = |(path, content): &(&PathBuf, &u64)| old.get(*path) != Some(content);
        let mut changed: Vec<&PathBuf> = new
            .iter()
            .filter_map(|(path, content)| differs(&(*path, *content)).then_some(*path))
            .collect();
        changed.extend(old.keys().filter(|path| !new.contains_key(*path)));
        if changed.len() > CHANGED_LIMIT {
            return Vec::new();
        }
        let moments = changed
            .into_iter()
            .map(|path| Some((path.clone(), moment(path)?)));
        moments.collect::<Option<Changed>>().unwrap_or_default()
    }

    fn known(&self) -> HashMap<&PathBuf, &u64> {
        let paths = self.files.iter().map(|(_, path)| path);
        paths.zip(&self.contents).collect()
    }

    /// True when a change of this path may change what a link leads to.
    pub(super) fn leads_over(&self, path: &Path) -> bool {
        self.places.iter().any(|place| place.starts_with(path))
    }
}

/// When a file was changed last; one that is gone, at the latest when its folder was.
fn moment(path: &Path) -> Option<i128> {
    let facts = path
        .ancestors()
        .find_map(|path| std::fs::metadata(path).ok())?;
    Some(Stamp::of(&facts).changed)
}

/// A digest in eight bytes: enough to see that it is another one.
fn brief(digest: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    digest.hash(&mut hasher);
    hasher.finish()
}

/// By what a file or folder is seen to have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    modified: i128,
    changed: i128,
}

impl Stamp {
    pub(super) fn of(facts: &std::fs::Metadata) -> Self {
        let nanos =
            |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self {
            inode: facts.ino(),
            size: facts.size(),
            modified: nanos(facts.mtime(), facts.mtime_nsec()),
            changed: nanos(facts.ctime(), facts.ctime_nsec()),
        }
    }

    /// True when a later change would move the stamp for sure.
    pub(super) fn settled(&self, now: i128) -> bool {
        self.modified.max(self.changed) + STAMP_GRAIN_NANOS < now
    }
}

/// Digests of files by their stamps.
#[derive(Debug, Default)]
pub(super) struct DigestCache {
    files: HashMap<PathBuf, (Stamp, String)>,
}

impl DigestCache {
    /// The digest of the files of a walk.
    pub(super) fn digest(&mut self, doors: &Doors, found: &mut Found) -> String {
        let mut text = String::new();
        found.contents.clear();
        for (label, path) in &found.files {
            let digest = self.file(doors, path);
            found.contents.push(brief(&digest));
            let _ = writeln!(text, "{digest}\0{label}");
        }
        cp9_model::digest::bytes(text.as_bytes())
    }

    fn file(&mut self, doors: &Doors, path: &Path) -> String {
        let link = std::fs::read_link(path)
            .map(|to| format!("-> {} ", to.to_string_lossy()))
            .unwrap_or_default();
        let Ok(facts) = std::fs::metadata(path) else {
            self.files.remove(path);
            return format!("{link}gone");
        };
        if !facts.is_file() {
            return format!("{link}no file");
        }
        let executable = if facts.mode() & 0o111 == 0 { "" } else { "x " };
        let stamp = Stamp::of(&facts);
        if let Some((known, digest)) = self.files.get(path)
            && *known == stamp
        {
            return format!("{link}{executable}{digest}");
        }
        let now = doors.clock.now().as_nanosecond();
        let digest = Utf8Path::from_path(path)
            .and_then(|path| doors.digest(path).ok())
            .unwrap_or_else(|| format!("unread {}", stamp.changed));
        if stamp.settled(now) {
            self.files.insert(path.to_owned(), (stamp, digest.clone()));
        } else {
            self.files.remove(path);
        }
        format!("{link}{executable}{digest}")
    }

    /// Forgets files that no walk finds any more.
    pub(super) fn retain(&mut self, wanted: &HashSet<&Path>) {
        self.files.retain(|path, _| wanted.contains(path.as_path()));
    }
}

/// The digest of what a resource watches as it is on disk now: what a finished build's `source`
/// must equal to be current.
pub(super) fn source_digest(doors: &Doors, plan: &DevPlan, resource: &Resource) -> String {
    let mut found = WatchSet::of(plan, resource).walk();
    DigestCache::default().digest(doors, &mut found)
}

/// The watch sets of a plan by resource.
pub(super) fn watch_sets(plan: &DevPlan) -> Vec<(String, WatchSet)> {
    plan.resources
        .iter()
        .map(|resource| (resource.name.clone(), WatchSet::of(plan, resource)))
        .collect()
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
