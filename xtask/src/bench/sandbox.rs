//! A private HOME and a session in it, driven by the release binary as a person would.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::outside::{TempDir, command, var, write};

/// A session file with its folder, in a HOME of its own. Dropping it destroys the session.
#[derive(Debug)]
pub(crate) struct Sandbox {
    cp9: PathBuf,
    dir: TempDir,
    file: String,
}

impl Sandbox {
    /// An empty place; the session file will be `file` in [`Self::folder`].
    pub(crate) fn new(cp9: &Path, file: &str) -> Result<Self> {
        let dir = TempDir::new("cp9-bench")?;
        std::fs::create_dir_all(dir.path().join("home"))?;
        std::fs::create_dir_all(dir.path().join("session"))?;
        Ok(Self {
            cp9: cp9.to_path_buf(),
            dir,
            file: file.to_owned(),
        })
    }

    /// Where the session file lies.
    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().join("session")
    }

    /// Copies a folder's files, but no session of somebody.
    pub(crate) fn copy_from(&self, source: &Path) -> Result<()> {
        copy_tree(source, &self.folder())
    }

    /// Writes a file of the session.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        write(&self.folder().join(path), text)
    }

    /// Runs a command of cp9; gives how long it took and the `data` of its envelope.
    pub(crate) fn cp9(&self, words: &[&str]) -> Result<(Duration, Value)> {
        let home = self.dir.path().join("home");
        let mut command = command(&self.cp9);
        command
            .args(words)
            .args(["--json", "--config", &self.file])
            .current_dir(self.folder());
        command.env_clear().env("HOME", &home);
        for (name, value) in toolchain() {
            command.env(name, value);
        }
        let start = Instant::now();
        let output = command
            .output()
            .with_context(|| format!("cannot run `{}`", self.cp9.display()))?;
        let took = start.elapsed();
        if !output.status.success() {
            let told = [output.stdout, output.stderr].concat();
            bail!(
                "`cp9 {}` ended with {}:\n{}",
                words.join(" "),
                output.status,
                String::from_utf8_lossy(&told).trim()
            );
        }
        let mut envelope: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("`cp9 {}` printed no JSON", words.join(" ")))?;
        Ok((took, envelope["data"].take()))
    }

    /// Times a command over and over.
    pub(crate) fn times(&self, words: &[&str], runs: usize) -> Result<Vec<Duration>> {
        (0..runs).map(|_| Ok(self.cp9(words)?.0)).collect()
    }

    /// Removes the session; an error if anything of it survives.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.cp9(&["destroy", "--yes"]).map(|_| ())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // After a success there is nothing left to destroy, and after a failure its error says more.
        let _ = self.destroy();
    }
}

/// What a compiler needs from the real environment: where it is, not whose it is.
fn toolchain() -> Vec<(&'static str, String)> {
    let home = var("HOME").unwrap_or_default();
    let path = var("PATH").unwrap_or_default();
    let rustup = var("RUSTUP_HOME").unwrap_or_else(|| format!("{home}/.rustup"));
    let cargo = var("CARGO_HOME").unwrap_or_else(|| format!("{home}/.cargo"));
    let mut variables = vec![
        ("PATH", path),
        ("RUSTUP_HOME", rustup),
        ("CARGO_HOME", cargo),
    ];
    variables.extend(var("RUSTUP_TOOLCHAIN").map(|toolchain| ("RUSTUP_TOOLCHAIN", toolchain)));
    variables
}

#[expect(
    clippy::disallowed_methods,
    reason = "a copy of the example, made before cp9 is there"
)]
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in
        std::fs::read_dir(from).with_context(|| format!("cannot list `{}`", from.display()))?
    {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), target)?;
        } else if entry.file_name() != ".cp9" {
            copy_tree(&entry.path(), &target)?;
        }
    }
    Ok(())
}
