//! How many folders a controller will watch: those below what the plan watches, without what version
//! control ignores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::DevPlan;
use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Never watched.
const NEVER: [&str; 2] = [".git", ".cp9"];
/// More entries than this are not looked at: the answer is then at least so many.
const MOST_ENTRIES: usize = 50_000;

/// The folders that a plan watches.
pub(super) fn folders(plan: &DevPlan) -> usize {
    let mut count = Count::default();
    for resource in &plan.resources {
        for root in &resource.watch {
            count.walk(Path::new(&plan.expand(root)), &resource.ignore);
        }
    }
    count.folders.len()
}

/// The folders of the sources of a session that has no plan yet.
pub(super) fn folders_of_sources(config: Option<&ResolvedConfig>) -> usize {
    let mut count = Count::default();
    let sources = config.iter().flat_map(|config| &config.services.source);
    for (_, source) in sources {
        let mut patterns = vec!["target/".to_owned()];
        patterns.extend(source.build.ignore.clone());
        count.walk(Path::new(&source.repo), &patterns);
    }
    count.folders.len()
}

/// Folders found, each once however many resources watch it.
#[derive(Default)]
struct Count {
    folders: BTreeSet<PathBuf>,
    entries: usize,
}

impl Count {
    fn walk(&mut self, root: &Path, patterns: &[String]) {
        if !root.is_dir() {
            return;
        }
        let own = matcher(root, patterns);
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .filter_entry(move |entry| {
                let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let never = NEVER.iter().any(|name| entry.file_name() == *name);
                entry.depth() == 0 || !(never || own.matched(entry.path(), folder).is_ignore())
            })
            .build();
        for entry in walk.flatten() {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return;
            }
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                self.folders.insert(entry.into_path());
            }
        }
    }
}

fn matcher(root: &Path, patterns: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        // A pattern that cannot be read ignores nothing.
        let _ = builder.add_line(None, pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_folders_are_not_counted_and_shared_ones_once() {
        let dir = tempfile::tempdir().expect("a folder");
        for folder in [
            "src/a",
            "src/b",
            "target/debug",
            ".git/objects",
            "node_modules/x",
        ] {
            std::fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        }
        #[expect(clippy::disallowed_methods, reason = "a test writes its own input")]
        std::fs::write(dir.path().join(".gitignore"), "node_modules\n").expect("a file");
        let mut count = Count::default();
        for _ in 0..2 {
            count.walk(dir.path(), &["target/".to_owned()]);
        }
        let names = ["", "src", "src/a", "src/b"].map(|name| dir.path().join(name));
        assert_eq!(count.folders, names.into());
        count.walk(&dir.path().join("gone"), &[]);
        assert_eq!(count.folders.len(), 4);
    }
}
