//! The folders that the system watches. One folder may be wanted under several names, as where one
//! leads through a link; the system tells of it under one of them only.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Watched folders by the names under which they are wanted.
#[derive(Debug, Default)]
pub(super) struct Armed {
    /// The name without links of each.
    real: HashMap<PathBuf, PathBuf>,
    /// All names of a folder.
    names: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Armed {
    /// True when no folder is watched.
    pub(super) fn is_empty(&self) -> bool {
        self.real.is_empty()
    }

    /// Takes note of a watched folder.
    pub(super) fn insert(&mut self, dir: PathBuf) {
        // One that vanished meanwhile has only this name.
        let real = dir.canonicalize().unwrap_or_else(|_| dir.clone());
        let names = self.names.entry(real.clone()).or_default();
        if !names.contains(&dir) {
            names.push(dir.clone());
        }
        self.real.insert(dir, real);
    }

    /// Those of some folders that are not watched.
    pub(super) fn missing(&self, dirs: &HashSet<PathBuf>) -> Vec<PathBuf> {
        let watched = |dir: &&PathBuf| self.real.contains_key(*dir);
        dirs.iter().filter(|dir| !watched(dir)).cloned().collect()
    }

    /// Watched folders that are not among these.
    pub(super) fn besides(&self, wanted: &HashSet<PathBuf>) -> Vec<PathBuf> {
        let mut dirs: Vec<PathBuf> = self.real.keys().cloned().collect();
        dirs.retain(|dir| !wanted.contains(dir));
        dirs
    }

    /// Forgets all; each is watched anew when it is wanted.
    pub(super) fn clear(&mut self) {
        self.real.clear();
        self.names.clear();
    }

    /// Forgets the folders at and below a path under all their names, which come back.
    pub(super) fn remove_below(&mut self, path: &Path) -> Vec<PathBuf> {
        let below = self.real.iter().filter(|(dir, _)| dir.starts_with(path));
        let below: HashSet<PathBuf> = below.map(|(_, real)| real.clone()).collect();
        let names = below.iter().filter_map(|real| self.names.remove(real));
        let gone: Vec<PathBuf> = names.flatten().collect();
        for dir in &gone {
            self.real.remove(dir);
        }
        gone
    }

    /// A path of which the system tells, under all names by which it may be wanted.
    pub(super) fn names(&self, path: &Path) -> Vec<PathBuf> {
        let mut names = vec![path.to_owned()];
        let others = |dir: &Path| self.real.get(dir).and_then(|real| self.names.get(real));
        if let Some(dirs) = others(path) {
            names.extend(dirs.iter().filter(|dir| *dir != path).cloned());
        } else if let (Some(dir), Some(name)) = (path.parent(), path.file_name()) {
            let dirs = others(dir).into_iter().flatten();
            names.extend(dirs.filter(|one| *one != dir).map(|one| one.join(name)));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_two_names_is_known_by_both() {
        let dir = tempfile::tempdir().expect("a folder");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::create_dir_all(real.join("sub")).expect("folders");
        std::os::unix::fs::symlink(&real, &link).expect("a link");
        let mut armed = Armed::default();
        for one in [real.clone(), link.clone(), real.join("sub")] {
            armed.insert(one);
        }
        assert_eq!(
            armed.names(&real.join("file")),
            [real.join("file"), link.join("file")]
        );
        assert_eq!(armed.names(&link), [link.clone(), real.clone()]);
        let alone = real.join("sub/file");
        assert_eq!(armed.names(&alone), [alone]);
        assert!(armed.missing(&[link.clone()].into()).is_empty());
        assert_eq!(armed.besides(&[real.clone(), link.clone()].into()).len(), 1);
        let mut gone = armed.remove_below(&link);
        gone.sort();
        assert_eq!(gone, [link, real.clone()], "one watch for both names");
        assert_eq!(armed.remove_below(&real), [real.join("sub")]);
        assert!(armed.is_empty());
    }
}
