//! Cargo as the tasks call it.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::outside::{command, var, var_names};
use crate::report::Finding;

/// Variables that `cargo run` gave to this program; a nested cargo must not pass them on to builds.
const FROM_CARGO_RUN: [&str; 5] = [
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_BIN_",
    "CARGO_CRATE_NAME",
    "CARGO_PRIMARY_PACKAGE",
];

/// A cargo command in the root of the repository.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Command {
    let mut command = command("cargo");
    command.args(args).current_dir(root);
    for name in var_names() {
        if FROM_CARGO_RUN.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    if var("CARGO_TERM_COLOR").is_none() && std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    command
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir(root: &Path) -> PathBuf {
    var("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// Runs cargo with its output shown; a failure is one finding.
pub(crate) fn check(mut command: Command, what: &str) -> Result<Vec<Finding>> {
    let status = command.status().context("cannot run `cargo`")?;
    if status.success() {
        return Ok(Vec::new());
    }
    Ok(vec![Finding::about(
        what,
        format!("ended with {status}; see above"),
    )])
}

/// What cargo says about the crates of this workspace, without asking any registry.
pub(crate) fn metadata(root: &Path) -> Result<Value> {
    json(cargo(
        root,
        &[
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ],
    ))
}

/// The same with every package that this machine needs; downloads those that a build would download.
pub(crate) fn metadata_of_all(root: &Path) -> Result<Value> {
    let host = host()?;
    json(cargo(
        root,
        &[
            "metadata",
            "--format-version",
            "1",
            "--filter-platform",
            &host,
        ],
    ))
}

/// The platform that the compiler builds for by default.
fn host() -> Result<String> {
    let output = command("rustc")
        .arg("-vV")
        .output()
        .context("cannot run `rustc`")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
}

fn json(mut command: Command) -> Result<Value> {
    let output = command.output().context("cannot run `cargo metadata`")?;
    if !output.status.success() {
        bail!(
            "`cargo metadata` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")
}
