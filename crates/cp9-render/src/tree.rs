//! File trees as values: the app-delivery tree that is read and the trees that are rendered.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// Relative paths with their contents.
pub type FileTree = BTreeMap<Utf8PathBuf, Vec<u8>>;

/// The app-delivery tree, paths relative to its root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppTree {
    /// Every file.
    pub files: FileTree,
    /// The override manifests of the session file that exist, by their absolute paths.
    pub overrides: FileTree,
}

impl AppTree {
    /// True when a file lies below the folder.
    pub(crate) fn has_folder(&self, folder: &Utf8Path) -> bool {
        self.below(folder).next().is_some()
    }

    /// The files below a folder, with their paths relative to it.
    pub(crate) fn below<'a>(
        &'a self,
        folder: &'a Utf8Path,
    ) -> impl Iterator<Item = (&'a Utf8Path, &'a [u8])> {
        self.files
            .range(folder.to_owned()..)
            .map_while(move |(path, data)| Some((path.strip_prefix(folder).ok()?, data.as_slice())))
            .filter(|(path, _)| !path.as_str().is_empty())
    }

    /// The environments: the folders inside every folder named `envs`.
    pub(crate) fn environments(&self) -> BTreeSet<String> {
        self.files
            .keys()
            .filter_map(|path| environment(path))
            .collect()
    }
}

fn environment(path: &Utf8Path) -> Option<String> {
    let parts: Vec<&str> = path
        .parent()?
        .components()
        .map(|part| part.as_str())
        .collect();
    let at = parts.iter().position(|part| *part == "envs")?;
    parts.get(at + 1).map(|part| (*part).to_owned())
}

/// A path inside a tree without `.` and doubled or trailing slashes; none if it is absolute or
/// leaves the tree.
pub(crate) fn inside(path: &str) -> Option<Utf8PathBuf> {
    let mut clean = Utf8PathBuf::new();
    for part in Utf8Path::new(path).components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::Normal(name) => clean.push(name),
            Utf8Component::ParentDir => {
                if !clean.pop() {
                    return None;
                }
            }
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        assert_eq!(inside("./a//b/../c/"), Some("a/c".into()));
        assert_eq!(inside("../a"), None);
        assert_eq!(inside("/etc"), None);
        assert_eq!(inside("."), Some(Utf8PathBuf::new()));
    }

    #[test]
    fn environments_are_the_folders_under_envs() {
        let mut tree = AppTree::default();
        for path in [
            "envs/a/x/d.yaml",
            "deep/envs/b/d.yaml",
            "envs/readme.md",
            "base/c/d.yaml",
        ] {
            tree.files.insert(path.into(), Vec::new());
        }
        assert_eq!(
            tree.environments().into_iter().collect::<Vec<_>>(),
            ["a", "b"]
        );
    }

    #[test]
    fn folders_are_no_prefixes_of_names() {
        let mut tree = AppTree::default();
        tree.files.insert("envs/ab/d.yaml".into(), Vec::new());
        assert!(!tree.has_folder("envs/a".into()));
        assert!(tree.has_folder("envs/ab".into()));
    }
}
