//! Tests that a machine cannot run.

use std::io::{self, Write as _};

/// Says what is skipped and why, in the words that `cargo xtask ci` counts. Straight to stderr: what a
/// passing test prints is captured.
pub fn skip(what: &str, why: &str) {
    let _ = io::stderr().write_all(format!("SKIP: {what}: {why}\n").as_bytes());
}
