//! Developer tasks: `cargo xtask ci | lint | docs | bench | tools`.

mod bench;
mod cargo;
mod ci;
mod docs;
mod lab;
mod libtest;
mod lint;
mod outside;
mod report;
mod shipped;
mod tools;
mod tree;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  ci               every check and all tests; what CI runs
  lint             the static checks that compile nothing
  docs             writes the generated references and schemas
  bench [--cold]   measures the release build against its bounds;
                   --cold also times a first build in an empty target folder
  tools NAME       installs a pinned test tool, or `all`, and prints where; `list` names them
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(err) => {
            outside::warn(&format!("error: {err:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs one task; false means that it found something wrong and has said so.
fn run(args: &[String]) -> Result<bool> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let root = outside::root()?;
    match words.as_slice() {
        ["ci"] => ci::run(&root),
        ["lint"] => lint::run(&root),
        ["docs"] => docs::write(&root),
        ["bench"] => bench::run(&root, false),
        ["bench", "--cold"] => bench::run(&root, true),
        ["tools", name] => tools::run(&root, name),
        [] | ["help" | "--help" | "-h"] => {
            outside::say(USAGE.trim_end());
            Ok(true)
        }
        _ => bail!("no such task: `{}`\n\n{USAGE}", words.join(" ")),
    }
}
