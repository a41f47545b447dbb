//! The files of the repository: tracked ones and new ones that are not ignored.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::outside::command;

/// Folders that hold no files of the project, for copies without git.
const SKIPPED: [&str; 3] = [".git", ".cp9", "target"];

/// A file with its text.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}

/// Reads every text file of the repository; files that are not UTF-8 have no text to check.
pub(crate) fn load(root: &Path) -> Result<Vec<SourceFile>> {
    let paths = match tracked(root) {
        Some(paths) => paths,
        None => walk(root)?,
    };
    let mut files = Vec::new();
    for path in paths {
        if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
            files.push(SourceFile { path, text });
        }
    }
    Ok(files)
}

/// What git knows; none where there is no git or no checkout.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let args = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
    ];
    let output = command("git").args(args).current_dir(root).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    Some(
        text.split('\0')
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect(),
    )
}

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(root)];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot list `{}`", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() && !skipped {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(relative(root, &entry.path()));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_a_plain_walk_find_this_file() {
        let root = crate::outside::root().expect("a root");
        let me = "xtask/src/tree.rs".to_owned();
        assert!(walk(&root).expect("a walk").contains(&me));
        assert!(
            load(&root)
                .expect("files")
                .iter()
                .any(|file| file.path == me && file.text.contains("SKIPPED"))
        );
    }
}
