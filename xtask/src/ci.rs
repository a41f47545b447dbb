//! `cargo xtask ci`: every check, fast ones first, all of them even after a failure.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::cargo::{self, cargo};
use crate::libtest::Tally;
use crate::outside::{say, var};
use crate::report::{Checks, Finding};
use crate::tools::{self, Place};
use crate::{docs, lab, lint, shipped, tree};

/// What no test may skip when `CI=true`: it is there wherever cp9 can be built.
const REQUIRED_IN_CI: [&str; 6] = ["cargo", "curl", "moto", "process", "provider", "rustc"];

/// Runs everything; true when all is well.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let began = Instant::now();
    let metadata = cargo::metadata(root)?;
    let mut checks = Checks::new(say);
    lint::all(root, &metadata, &mut checks)?;
    checks.run("format", || format(root));
    // The features that tests need are switched on by dev-dependencies, so every step sees the same ones.
    checks.run("clippy", || {
        let args = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ];
        cargo::check(cargo(root, &args), "cargo clippy")
    });
    checks.run("rustdoc", || {
        let mut command = cargo(root, &["doc", "--workspace", "--no-deps"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        cargo::check(command, "cargo doc")
    });
    let built = checks.run("build", || {
        cargo::check(
            cargo(root, &["test", "--workspace", "--no-run"]),
            "cargo test --no-run",
        )
    });
    checks.run("generated references", || {
        if !built {
            bail!("not compared, because cp9 is not built");
        }
        docs::compare(root)
    });
    let mut tally = Tally::default();
    checks.run("lab", || lab::check(root, &mut tally));
    checks.run("tests", || tests(root, began, &mut tally));
    checks.run("no fault hooks", || shipped::check(root));
    say("");
    say(&checks.summary());
    for (what, why) in &tally.skips {
        say(&format!("skipped: {what}: {why}"));
    }
    say(&tally.closing());
    Ok(checks.ok())
}

/// The workspace by cargo, the examples (which stand outside it) by rustfmt itself.
fn format(root: &Path) -> Result<Vec<Finding>> {
    let mut found = cargo::check(
        cargo(root, &["fmt", "--all", "--", "--check"]),
        "cargo fmt --all",
    )?;
    let is_example =
        |path: &str| path.starts_with("examples/") && path.rsplit('.').next() == Some("rs");
    let examples: Vec<String> = tree::load(root)?
        .into_iter()
        .map(|file| file.path)
        .filter(|path| is_example(path))
        .collect();
    if !examples.is_empty() {
        let mut rustfmt = crate::outside::command("rustfmt");
        rustfmt
            .args(["--check", "--edition", "2021"])
            .args(examples)
            .current_dir(root);
        found.extend(cargo::check(
            rustfmt,
            "rustfmt --edition 2021 on the examples",
        )?);
    }
    Ok(found)
}

fn tests(root: &Path, began: Instant, tally: &mut Tally) -> Result<Vec<Finding>> {
    let args = ["test", "--workspace", "--no-fail-fast"];
    let mut command = cargo(root, &args);
    for (tool, place) in tools::all(root, began) {
        match place {
            Place::At(path) => {
                command.env(tool.variable, path);
            }
            Place::Missing(why) => tally.feed(&format!("SKIP: {}: {why}", tool.name)),
        }
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run `cargo test`")?;
    let (line_tx, line_rx) = channel();
    let out = child
        .stdout
        .take()
        .map(|out| relay(out, std::io::stdout(), line_tx.clone()));
    let err = child
        .stderr
        .take()
        .map(|err| relay(err, std::io::stderr(), line_tx));
    while let Ok(line) = line_rx.recv() {
        tally.feed(&line);
    }
    for thread in [out, err].into_iter().flatten() {
        thread
            .join()
            .map_err(|_| anyhow::anyhow!("a reader of `cargo test` ended early"))?;
    }
    let status = child.wait()?;
    Ok(verdict(
        status.success(),
        tally,
        var("CI").as_deref() == Some("true"),
    ))
}

/// What is wrong with a test run.
fn verdict(success: bool, tally: &Tally, ci: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    if !success || tally.failed > 0 {
        found.push(Finding::about(
            "cargo test",
            format!("failed: {}", tally.closing()),
        ));
    }
    if success && tally.passed == 0 {
        found.push(Finding::about("cargo test", "ran no test"));
    }
    if ci {
        let refused = tally.refused(&REQUIRED_IN_CI);
        found.extend(
            refused
                .iter()
                .map(|what| Finding::about(*what, "skipped, though CI must run it")),
        );
    }
    found
}

/// Shows a stream line by line and hands on each line.
fn relay(
    from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    line_tx: Sender<String>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let _ = to.write_all(&line).and_then(|()| to.flush());
            let _ = line_tx.send(String::from_utf8_lossy(&line).into_owned());
            line.clear();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lines: &str) -> Tally {
        let mut tally = Tally::default();
        lines.lines().for_each(|line| tally.feed(line));
        tally
    }

    #[test]
    fn a_run_fails_by_exit_by_count_by_emptiness_and_by_refused_skips() {
        let good = tally("test result: ok. 3 passed; 0 failed; 0 ignored");
        assert_eq!(verdict(true, &good, true), []);
        assert_eq!(verdict(false, &good, true).len(), 1);
        assert_eq!(
            verdict(
                true,
                &tally("test result: FAILED. 3 passed; 1 failed; 0 ignored"),
                true
            )
            .len(),
            1
        );
        assert_eq!(verdict(true, &Tally::default(), false).len(), 1);
        let skipping = tally(
            "test result: ok. 3 passed; 0 failed; 0 ignored\nSKIP: rustc: not found\nSKIP: k3d: none",
        );
        assert_eq!(verdict(true, &skipping, false), []);
        assert_eq!(
            verdict(true, &skipping, true),
            [Finding::about("rustc", "skipped, though CI must run it")]
        );
    }

    #[test]
    fn lines_are_shown_and_handed_on_whatever_they_hold() {
        let (line_tx, line_rx) = channel();
        let input: &[u8] = b"test a ... ok\n\xff\xfe\ntest result: ok. 1 passed; 0 failed";
        relay(input, std::io::sink(), line_tx)
            .join()
            .expect("a finished reader");
        let mut tally = Tally::default();
        let lines: Vec<String> = line_rx.iter().collect();
        for line in &lines {
            tally.feed(line);
        }
        assert_eq!(lines.len(), 3);
        assert_eq!(tally.closing(), "1 passed, 0 failed, 0 skipped");
    }
}
