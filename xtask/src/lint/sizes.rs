//! Files stay small. The length of functions is clippy's (`too_many_lines`).

use crate::report::Finding;

/// The most lines of a Rust file, without its tests.
const LIMIT: usize = 400;

/// Refuses a Rust file that is too long.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let lines = counted(text);
    if !is_product(path) || lines <= LIMIT {
        return Vec::new();
    }
    vec![Finding::about(
        path,
        format!("{lines} lines without tests, {LIMIT} are allowed; split it by subject"),
    )]
}

/// Rust files but those that hold nothing but tests.
fn is_product(path: &str) -> bool {
    path.rsplit('.').next() == Some("rs")
        && !path.ends_with("/tests.rs")
        && !path.ends_with("_tests.rs")
        && !path.split('/').any(|part| part == "tests")
}

/// Lines before an inline `mod tests`.
fn counted(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let tests = lines
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod tests {"));
    tests.unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_long_file_and_counts_no_tests() {
        let long = "x\n".repeat(LIMIT + 1);
        assert_eq!(check("crates/a/src/b.rs", &long).len(), 1);
        let with_tests = format!(
            "{}#[cfg(test)]\nmod tests {{\n{long}}}\n",
            "x\n".repeat(LIMIT)
        );
        assert_eq!(check("crates/a/src/b.rs", &with_tests), []);
        let declared_only = format!("#[cfg(test)]\nmod tests;\n{long}");
        assert_eq!(check("crates/a/src/b.rs", &declared_only).len(), 1);
    }

    #[test]
    fn leaves_test_files_and_other_languages_alone() {
        let long = "x\n".repeat(LIMIT + 1);
        for path in [
            "crates/a/src/b/tests.rs",
            "crates/a/src/b_tests.rs",
            "crates/a/tests/it/up.rs",
            "docs/a.md",
        ] {
            assert_eq!(check(path, &long), [], "{path}");
        }
    }
}
