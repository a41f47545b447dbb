//! Every Rust file says in a `//!` paragraph what it is responsible for.

use crate::report::Finding;

/// Refuses a Rust file that opens with anything else; a `#!` line or `#![…]` may stand before.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if path.rsplit('.').next() != Some("rs") {
        return Vec::new();
    }
    let first = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("#!"));
    if first.is_some_and(|line| line.starts_with("//!") && line.len() > 4) {
        return Vec::new();
    }
    vec![Finding::at(path, 1, "opens without a `//!` paragraph")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_files_without_a_paragraph() {
        for bad in [
            "fn main() {}\n",
            "",
            "// A comment.\n",
            "//!\nfn main() {}\n",
        ] {
            assert_eq!(check("crates/a/src/lib.rs", bad).len(), 1, "{bad:?}");
        }
    }

    #[test]
    fn takes_a_paragraph_and_other_languages() {
        assert_eq!(check("a.rs", "\n//! What it is.\nfn main() {}\n"), []);
        assert_eq!(
            check("a.rs", "#![forbid(unsafe_code)]\n//! What it is.\n"),
            []
        );
        assert_eq!(check("a.go", "package main\n"), []);
    }
}
