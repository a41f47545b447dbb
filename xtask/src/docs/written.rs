//! Writes the generated files, or tells which of them are out of date.

use std::path::Path;

use anyhow::Result;
use cp9_model::config::schema;

use super::{cli, config, exit_codes, product, state};
use crate::cargo::{self, cargo};
use crate::outside::{say, write_if_changed};
use crate::report::Finding;

/// A generated file.
struct Generated {
    /// Relative to the root.
    path: String,
    text: String,
}

/// `cargo xtask docs`.
pub(crate) fn write(root: &Path) -> Result<bool> {
    let command = cargo(root, &["test", "--package", "cp9", "--no-run"]);
    if !cargo::check(command, "cargo test --no-run")?.is_empty() {
        return Ok(false);
    }
    for file in generate(root)? {
        let changed = write_if_changed(&root.join(&file.path), &file.text)?;
        say(&format!(
            "{}  {}",
            if changed { "written  " } else { "unchanged" },
            file.path
        ));
    }
    Ok(true)
}

/// Compares the generated files with those of the repository; cp9 must have been built.
pub(crate) fn stale(root: &Path) -> Result<Vec<Finding>> {
    let compare = |file: Generated| {
        let found = std::fs::read_to_string(root.join(&file.path)).ok();
        difference(found.as_deref(), &file.text).map(|what| {
            Finding::about(
                file.path,
                format!("{what}; run `cargo xtask docs` and commit it"),
            )
        })
    };
    Ok(generate(root)?.into_iter().filter_map(compare).collect())
}

fn generate(root: &Path) -> Result<Vec<Generated>> {
    let tree = product::Product::built(root)?.tree()?;
    let mut files = vec![
        reference("exit-codes", exit_codes::page()),
        reference("state", state::page()),
        reference("config", config::page(&schema::generate())),
        reference("cli", cli::page(&tree)?),
    ];
    files.extend(schema::all().into_iter().map(|(name, schema)| Generated {
        path: format!("schemas/{name}"),
        text: schema::text(&schema),
    }));
    Ok(files)
}

fn reference(name: &str, text: String) -> Generated {
    Generated {
        path: format!("docs/reference/{name}.md"),
        text,
    }
}

/// How a file differs from what it should hold.
fn difference(found: Option<&str>, wanted: &str) -> Option<String> {
    let Some(found) = found else {
        return Some("missing".into());
    };
    if found == wanted {
        return None;
    }
    let same = found
        .lines()
        .zip(wanted.lines())
        .take_while(|(found, wanted)| found == wanted)
        .count();
    let line = wanted.lines().nth(same).unwrap_or("(end of file)");
    Some(format!(
        "out of date from line {}, which should be `{line}`",
        same + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_where_a_file_is_out_of_date() {
        assert_eq!(difference(Some("a\nb\n"), "a\nb\n"), None);
        assert_eq!(difference(None, "a\n").as_deref(), Some("missing"));
        let changed = difference(Some("a\nb\n"), "a\nc\n").expect("a difference");
        assert_eq!(changed, "out of date from line 2, which should be `c`");
        assert!(
            difference(Some("a\nb\n"), "a\n")
                .expect("a difference")
                .contains("end of file")
        );
    }
}
