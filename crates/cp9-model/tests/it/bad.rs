//! Every file of `tests/bad` against the text beside it, compared whole. Rewrite with
//! `SNAPSHOTS=overwrite`.

use std::fmt::Write;
use std::path::Path;

use camino::Utf8Path;
use cp9_model::config;
use cp9_model::diagnostic::{Code, Diagnostic};
use snapbox::{Assert, Data};

fn print(found: &[Diagnostic]) -> String {
    let mut text = String::new();
    for one in found {
        let severity = format!("{:?}", one.severity).to_lowercase();
        let pointer = if one.pointer.is_empty() {
            "(document)"
        } else {
            &one.pointer
        };
        writeln!(
            text,
            "{severity}[{}] {pointer}: {}\n{}",
            one.code, one.message, one.snippet
        )
        .expect("text");
        if let Some(help) = &one.help {
            writeln!(text, "help: {help}").expect("text");
        }
        text.push('\n');
    }
    text
}

#[test]
fn diagnostics_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut codes = std::collections::BTreeSet::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("file");
        let found =
            config::load(Utf8Path::new("/w/cp9.yaml"), &bytes).expect_err(&path.to_string_lossy());
        let text = print(&found);
        assert!(!text.contains("hunter2"), "{}: {text}", path.display());
        assert!(
            found.is_sorted_by_key(|one| (one.line, one.column)),
            "{}",
            path.display()
        );
        codes.extend(found.into_iter().map(|one| one.code));
        Assert::new()
            .action_env("SNAPSHOTS")
            .eq(text, Data::read_from(&path.with_extension("txt"), None));
        count += 1;
    }
    assert!(count > 45, "{count} files");
    let elsewhere = ["CP9-C002", "CP9-C004", "CP9-C015", "CP9-C031", "CP9-C040"];
    let missing: Vec<_> = Code::ALL
        .iter()
        .map(|code| code.id)
        .filter(|id| !codes.contains(*id) && !elsewhere.contains(id))
        .collect();
    assert!(missing.is_empty(), "no file shows {missing:?}");
}
