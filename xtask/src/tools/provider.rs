//! The provider of Terraform that the tests use: a few kinds of AWS, made in an emulator.

use std::path::Path;

use anyhow::Result;

use super::Tool;
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
    recipe,
    install,
    missing,
};

fn recipe(root: &Path) -> Result<String> {
    let mut all = go(root, &["version"])?;
    for name in outside::names(&root.join(SOURCES))? {
        all.push_str(&outside::read(&root.join(SOURCES).join(name))?);
    }
    Ok(all)
}

fn install(root: &Path, to: &Path) -> Result<()> {
    let platform = go(root, &["env", "GOOS", "GOARCH"])?;
    let platform: Vec<&str> = platform.split_whitespace().collect();
    let dir = to.join(MIRROR).join(platform.join("_"));
    outside::create_dir(&dir)?;
    let output = dir.join(NAME).display().to_string();
    go(root, &["build", "-trimpath", "-o", &output, "."])?;
    Ok(())
}

fn missing() -> Option<String> {
    let there = outside::command("go").arg("version").output();
    let there = there.is_ok_and(|output| output.status.success());
    (!there).then(|| "needs Go".to_owned())
}

fn go(root: &Path, args: &[&str]) -> Result<String> {
    let mut command = outside::command("go");
    command.args(args).current_dir(root.join(SOURCES));
    outside::output(&mut command)
}
