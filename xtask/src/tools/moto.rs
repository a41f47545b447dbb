//! moto, the emulator of AWS that the tests run on loopback.

use std::path::Path;

use anyhow::Result;

use super::Tool;
use crate::outside;

/// Every package with its version and digests.
const REQUIREMENTS: &str = "lab/moto/requirements.txt";

/// How it is installed: a virtual environment with nothing but what the list names.
pub(super) const TOOL: Tool = Tool {
    name: "moto",
    variable: "CP9_LAB_MOTO",
    slow: false,
    recipe,
    install,
    missing,
};

fn recipe(root: &Path) -> Result<String> {
    let python = output("python3", &["--version"])?;
    Ok(format!(
        "{python}{}",
        outside::read(&root.join(REQUIREMENTS))?
    ))
}

fn install(root: &Path, to: &Path) -> Result<()> {
    let to = to.display().to_string();
    output("python3", &["-m", "venv", &to])?;
    let list = root.join(REQUIREMENTS).display().to_string();
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--require-hashes",
        "--no-deps",
        "--requirement",
        &list,
    ];
    output(&format!("{to}/bin/python"), &pip)?;
    Ok(())
}

fn missing() -> Option<String> {
    let there = output("python3", &["-c", "import venv, ensurepip"]).is_ok();
    (!there).then(|| "needs python3 with venv".to_owned())
}

fn output(program: &str, args: &[&str]) -> Result<String> {
    outside::output(outside::command(program).args(args))
}
