//! The build that users get has no fault hooks: the variable that stops a test build is ignored there.

use std::path::Path;

use anyhow::{Context, Result};

use crate::cargo::{self, cargo};
use crate::outside::{self, TempDir};
use crate::report::Finding;

const SESSION: &str = "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: shipped\nhost:\n  mode: process\ntarget:\n  cloud: local\n";

/// Builds cp9 as `cargo build` does, without the features of the tests, and gives it a fault.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut found = cargo::check(cargo(root, &["build"]), "cargo build")?;
    if found.is_empty() {
        let dir = TempDir::new("cp9-shipped")?;
        outside::write(&dir.path().join("cp9.yaml"), SESSION)?;
        let cp9 = cargo::target_dir(root).join("debug/cp9");
        for args in [["up", "--no-tilt"].as_slice(), &["destroy"]] {
            found.extend(run(&cp9, args, dir.path())?);
        }
    }
    Ok(found)
}

fn run(cp9: &Path, args: &[&str], dir: &Path) -> Result<Option<Finding>> {
    let output = outside::command(cp9)
        .args(args)
        .current_dir(dir)
        .env("HOME", dir)
        .env("CP9_FAULT", "preflight:before:error")
        .env_remove("CP9_OWNER")
        .output()
        .context("cannot run the built cp9")?;
    Ok(judge(
        args,
        output.status.success(),
        &String::from_utf8_lossy(&output.stderr),
    ))
}

fn judge(args: &[&str], success: bool, stderr: &str) -> Option<Finding> {
    (!success).then(|| {
        Finding::about(
            "CP9_FAULT",
            format!("is not ignored by `cp9 {}`: {stderr}", args.join(" ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_stops_is_found() {
        assert!(judge(&["up"], false, "fault injected").is_some());
        assert!(judge(&["up"], true, "").is_none());
    }
}
