//! The provider of Terraform that the tests use: a few kinds of AWS, made in an emulator.

use std::path::Path;

use anyhow::Result;

use super::{Tool, go};
use crate::outside;

/// Its sources.
const SOURCES: &str = "lab/provider";
/// Its place in the file-system mirror; the version means nothing.
const MIRROR: &str = "mirror/example.com/cp9/aws/1.0.0";
/// The platforms that Go and Terraform call alike.
const NAME: &str = "terraform-provider-aws_v1.0.0";

/// How it is installed: built by Go into a mirror, with the file that points Terraform at it.
pub(super) const TOOL: Tool = Tool {
    name: "provider",
    variable: "CP9_LAB_PROVIDER",
    slow: false,
    recipe,
    install,
    missing: go::missing,
};

fn recipe(root: &Path) -> Result<String> {
    go::recipe(&root.join(SOURCES))
}

fn install(root: &Path, to: &Path) -> Result<()> {
    let sources = root.join(SOURCES);
    let platform = go::run(&sources, &["env", "GOOS", "GOARCH"])?;
    let platform: Vec<&str> = platform.split_whitespace().collect();
    let dir = to.join(MIRROR).join(platform.join("_"));
    outside::create_dir(&dir)?;
    let output = dir.join(NAME).display().to_string();
    go::run(&sources, &["build", "-trimpath", "-o", &output, "."])?;
    Ok(())
}
