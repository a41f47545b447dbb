//! The generated references below `docs/reference/` and schemas below `schemas/`: what makes them is the
//! test `references`, because it is built together with the model that it reads.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::cargo::{self, cargo};
use crate::report::Finding;

/// Set by `cargo xtask docs`: the test writes the files instead of comparing them.
const WRITE: &str = "XTASK_WRITE";

/// `cargo xtask docs`.
pub(crate) fn write(root: &Path) -> Result<bool> {
    let build = cargo(root, &["build", "--workspace", "--bin", "cp9"]);
    if !cargo::check(build, "cargo build")?.is_empty() {
        return Ok(false);
    }
    let mut test = test(root);
    test.env(WRITE, "1");
    Ok(cargo::check(test, "cargo test --test references")?.is_empty())
}

/// Compares the generated files with those of the repository; cp9 must have been built.
pub(crate) fn compare(root: &Path) -> Result<Vec<Finding>> {
    cargo::check(test(root), "cargo test --test references")
}

fn test(root: &Path) -> Command {
    cargo(
        root,
        &["test", "--quiet", "--workspace", "--test", "references"],
    )
}
