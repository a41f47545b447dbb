//! Takes every figure in turn and prints the table.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::figure::{Figure, table};
use super::sandbox::Sandbox;
use super::{edit, idle};
use crate::cargo::{cargo, target_dir};
use crate::outside::{TempDir, say, warn};

const QUICKSTART: &str = "examples/quickstart";
const FILE: &str = "cp9.quickstart.example.yaml";
const ROUNDS: usize = 30;

/// Measures; true when every bound holds.
pub(crate) fn run(root: &Path, cold: bool) -> Result<bool> {
    let mut figures = Vec::new();
    if cold {
        warn("building cp9 in an empty target folder …");
        figures.push(first_build(root)?);
    }
    let cp9 = release(root)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a file size in megabytes needs no exact bytes"
    )]
    let size = std::fs::metadata(&cp9)?.len() as f64 / 1_000_000.0;
    figures.push(Figure::new("release binary", "MB", size, 20.0));
    quickstart(root, &cp9, &mut figures)?;
    warn("watching a controller with ten idle services …");
    figures.extend(idle::figures(&cp9)?);
    say(&table(&figures));
    Ok(figures.iter().all(Figure::holds))
}

/// Builds the release binary as the README does, and says where it is.
fn release(root: &Path) -> Result<PathBuf> {
    build(cargo(root, &["build", "--release", "--package", "cp9"]))?;
    Ok(target_dir(root).join("release/cp9"))
}

fn build(mut command: std::process::Command) -> Result<()> {
    let status = command.status().context("cannot run `cargo`")?;
    if !status.success() {
        bail!("`cargo build --release` ended with {status}");
    }
    Ok(())
}

/// The first build of a newcomer whose registry cache is filled.
fn first_build(root: &Path) -> Result<Figure> {
    let target = TempDir::new("cp9-cold")?;
    let mut command = cargo(root, &["build", "--release", "--package", "cp9"]);
    command.env("CARGO_TARGET_DIR", target.path());
    let start = Instant::now();
    build(command)?;
    Ok(Figure::new(
        "first `cargo build --release`, empty target",
        "s",
        start.elapsed().as_secs_f64(),
        300.0,
    ))
}

fn quickstart(root: &Path, cp9: &Path, figures: &mut Vec<Figure>) -> Result<()> {
    let sandbox = Sandbox::new(cp9, FILE)?;
    sandbox.copy_from(&root.join(QUICKSTART))?;
    warn("bringing the quickstart up …");
    sandbox.cp9(&["up"])?;
    sandbox.cp9(&["pause"])?;
    let built = sandbox.cp9(&["up"])?.0.as_secs_f64();
    figures.push(Figure::new(
        "`up` of the built quickstart, after `pause`",
        "s",
        built,
        3.0,
    ));
    let unchanged = sandbox.times(&["up"], ROUNDS)?;
    figures.push(Figure::p95_millis(
        "`up` on a ready, unchanged session (p95 of 30)",
        &unchanged,
        300.0,
    ));
    let status = sandbox.times(&["status"], ROUNDS)?;
    figures.push(Figure::p95_millis(
        "`status --json` (p95 of 30)",
        &status,
        50.0,
    ));
    warn("saving a source file 30 times …");
    let edits = edit::overheads(&sandbox, ROUNDS)?;
    figures.push(Figure::p95_millis(
        "save to new version answering, beyond build (p95 of 30)",
        &edits,
        300.0,
    ));
    sandbox.destroy()
}
