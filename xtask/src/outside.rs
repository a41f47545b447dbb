//! The task runner's own doors: programs, environment, files, output. These tasks run on a
//! developer's machine before cp9 is built, so they cannot use the doors of cp9.

#![expect(
    clippy::disallowed_methods,
    reason = "the doors that the lint names belong to cp9, which these tasks build and check"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A program that is about to be run.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// What a program that must succeed prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed: {}", said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A variable of the environment, if set and not empty.
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names of all variables.
pub(crate) fn var_names() -> Vec<String> {
    std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect()
}

/// The root of the repository: the folder above this crate.
pub(crate) fn root() -> Result<PathBuf> {
    let here = var("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").to_owned());
    let root = Path::new(&here)
        .parent()
        .context("the task runner's crate has no parent folder")?;
    Ok(root.to_path_buf())
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("cannot create `{}`", dir.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// The names in a folder, sorted.
pub(crate) fn names(path: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(path);
    let entries = entries.with_context(|| format!("cannot list `{}`", path.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Creates a folder and those above it.
pub(crate) fn create_dir(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot create `{}`", path.display()))
}

/// Renames a folder.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).with_context(|| format!("cannot rename `{}`", from.display()))
}

/// Removes a folder with all in it, if it is there.
pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
            Err(err).with_context(|| format!("cannot remove `{}`", path.display()))
        }
        _ => Ok(()),
    }
}

/// Waits for a lock; it lasts as long as the file that comes back.
pub(crate) fn lock(path: &Path) -> Result<std::fs::File> {
    let file = std::fs::File::create(path);
    let file = file.with_context(|| format!("cannot create `{}`", path.display()))?;
    file.lock()
        .with_context(|| format!("cannot lock `{}`", path.display()))?;
    Ok(file)
}

/// A short name for a text (FNV-1a, 64 bits): it tells recipes apart and guards against nobody.
pub(crate) fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Prints a line to stdout; a closed pipe is nobody's error.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Prints a line to stderr.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// A folder of our own that is removed at the end.
#[derive(Debug)]
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    /// Makes a folder that nobody else has.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let base = std::env::temp_dir();
        for number in 0..1000 {
            let path = base.join(format!("{name}-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(err) => {
                    return Err(err).with_context(|| format!("cannot create `{}`", path.display()));
                }
            }
        }
        bail!("`{}` is full of old folders `{name}-*`", base.display())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning of its folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_tell_texts_apart() {
        assert_eq!(digest(""), "cbf29ce484222325");
        assert_eq!(digest("a"), "af63dc4c8601ec8c");
        assert_ne!(digest("ab"), digest("ba"));
    }

    #[test]
    fn folders_are_our_own_and_go_away() {
        let (one, two) = (
            TempDir::new("cp9-xtask").expect("a folder"),
            TempDir::new("cp9-xtask").expect("a folder"),
        );
        assert_ne!(one.path(), two.path());
        write(&one.path().join("a/b"), "text").expect("a file");
        let path = one.path().to_path_buf();
        drop(one);
        assert!(!path.exists());
    }
}
