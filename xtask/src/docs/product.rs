//! The cp9 that was just built, asked what it knows about itself.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::target_dir;
use crate::outside::command;

/// The debug binary of this workspace.
#[derive(Debug)]
pub(crate) struct Product {
    binary: PathBuf,
}

impl Product {
    /// The binary that `cargo test --no-run` left.
    pub(crate) fn built(root: &Path) -> Result<Self> {
        let binary = target_dir(root).join("debug/cp9");
        if !binary.is_file() {
            bail!("`{}` is not built", binary.display());
        }
        Ok(Self { binary })
    }

    /// The command tree.
    pub(crate) fn tree(&self) -> Result<Value> {
        self.data(&["cmds.tree"])
    }

    /// The `data` of a command's envelope. The environment is empty: references must not depend on it.
    fn data(&self, words: &[&str]) -> Result<Value> {
        let words = [words, &["--json"]].concat();
        let output = command(&self.binary)
            .args(&words)
            .env_clear()
            .output()
            .context("cannot run the built `cp9`")?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            bail!(
                "`cp9 {}` ended with {}: {}",
                words.join(" "),
                output.status,
                told.trim()
            );
        }
        let mut envelope: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("`cp9 {}` printed no JSON", words.join(" ")))?;
        Ok(envelope["data"].take())
    }
}
