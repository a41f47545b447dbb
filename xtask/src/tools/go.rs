//! What the tools that Go builds have in common.

use std::path::Path;

use anyhow::{Result, bail};

use crate::outside;

/// Why Go can build nothing here, if it cannot.
pub(super) fn missing() -> Option<String> {
    let there = outside::command("go").arg("version").output();
    let there = there.is_ok_and(|output| output.status.success());
    (!there).then(|| "needs Go".to_owned())
}

/// What a program is made from: Go itself, and the files of a folder.
pub(super) fn recipe(sources: &Path) -> Result<String> {
    let mut all = run(sources, &["version"])?;
    for name in outside::names(sources)? {
        // A change of a test makes no other program.
        if !name.ends_with("_test.go") {
            all.push_str(&outside::read(&sources.join(name))?);
        }
    }
    Ok(all)
}

/// Runs Go in a folder and gives what it printed.
pub(super) fn run(dir: &Path, args: &[&str]) -> Result<String> {
    let output = outside::command("go")
        .args(args)
        .current_dir(dir)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`go {}` failed: {}", args.join(" "), said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
