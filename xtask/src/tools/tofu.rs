//! `OpenTofu`, the second program that the substrate can be run by, built from its Go module.

use std::path::Path;

use anyhow::Result;

use super::{Tool, go};
use crate::outside;

/// The module that pins it: a tool of a module of its own, whose lists hold every digest.
const SOURCES: &str = "lab/tofu";
/// The package of the program.
const PACKAGE: &str = "github.com/opentofu/opentofu/cmd/tofu";
/// What the linker is told: a release says so in its version.
const RELEASE: &str = "-s -w -X github.com/opentofu/opentofu/version.dev=no";

/// How it is installed: built by Go, the program alone in its folder.
pub(super) const TOOL: Tool = Tool {
    name: "tofu",
    variable: "CP9_LAB_TOFU",
    slow: true,
    recipe,
    install,
    missing: go::missing,
};

fn recipe(root: &Path) -> Result<String> {
    Ok(go::recipe(&root.join(SOURCES))? + RELEASE)
}

fn install(root: &Path, to: &Path) -> Result<()> {
    let output = to.join("tofu").display().to_string();
    outside::create_dir(to)?;
    let args = ["build", "-trimpath", "-ldflags", RELEASE, "-o", &output];
    go::run(&root.join(SOURCES), &[&args[..], &[PACKAGE]].concat())?;
    Ok(())
}
