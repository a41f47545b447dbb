//! The checks of what the tests' own programs are written in: Go's formatter, its linter and its tests.

use std::path::Path;

use anyhow::Result;

use crate::cargo;
use crate::libtest::Tally;
use crate::outside::{self, command};
use crate::report::Finding;

/// The module that is written here; the others only pin what they are built from.
const PROVIDER: &str = "lab/provider";

/// What is wrong with it; without Go that is a skip.
pub(crate) fn check(root: &Path, tally: &mut Tally) -> Result<Vec<Finding>> {
    if command("go").arg("version").output().is_err() {
        let line = format!("SKIP: {PROVIDER}: needs Go");
        outside::warn(&line);
        tally.feed(&line);
        return Ok(Vec::new());
    }
    let dir = root.join(PROVIDER);
    let output = command("gofmt").arg("-l").arg(&dir).output()?;
    let unformatted = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found: Vec<Finding> = unformatted
        .lines()
        .map(|file| Finding::about(file, "is not formatted as gofmt does"))
        .collect();
    for task in ["vet", "test"] {
        let mut go = command("go");
        go.args([task, "./..."]).current_dir(&dir);
        found.extend(cargo::check(go, &format!("go {task} in {PROVIDER}"))?);
    }
    Ok(found)
}
