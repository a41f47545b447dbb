//! Every generated file, compared with the repository's or written to it.

use std::path::Path;

use cp9_model::config::schema;

use crate::{cli, config, devplan, exit_codes, facts, output, product, state};

/// A generated file.
struct Generated {
    /// Relative to the root.
    path: String,
    text: String,
}

fn generate(root: &Path) -> Vec<Generated> {
    let tree = product::tree(root);
    let mut files = vec![
        reference("cli", cli::page(&tree)),
        reference("config", config::page(&schema::generate())),
        reference("devplan", devplan::page(&schema::devplan())),
        reference("exit-codes", exit_codes::page()),
        reference("facts", facts::page(&schema::facts())),
        reference("output", output::page(&tree)),
        reference("state", state::page()),
    ];
    files.extend(schema::all().into_iter().map(|(name, schema)| Generated {
        path: format!("schemas/{name}"),
        text: schema::text(&schema),
    }));
    files
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

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the doors that the lint names belong to cp9, which this test describes"
)]
fn generated_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the root");
    let write = std::env::var_os("XTASK_WRITE").is_some();
    let mut stale = Vec::new();
    for file in generate(root) {
        let path = root.join(&file.path);
        let found = std::fs::read_to_string(&path).ok();
        let Some(what) = difference(found.as_deref(), &file.text) else {
            continue;
        };
        if write {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, &file.text).expect("a written file");
        } else {
            stale.push(format!("{}: {what}", file.path));
        }
    }
    assert!(
        stale.is_empty(),
        "run `cargo xtask docs` and commit what it writes:\n{}",
        stale.join("\n")
    );
}

#[test]
fn a_difference_is_told_by_its_line() {
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
