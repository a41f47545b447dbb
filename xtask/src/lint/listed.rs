//! A test file that nobody lists runs never: each file below `tests/it/` stands in its `main.rs`.

use crate::report::Finding;
use crate::tree::SourceFile;

/// Refuses test files without a `mod` line, in every crate.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in files {
        let Some((folder, module)) = module_of(&file.path) else {
            continue;
        };
        let main = format!("{folder}/tests/it/main.rs");
        let list = files
            .iter()
            .find(|other| other.path == main)
            .map_or("", |main| main.text.as_str());
        if !lists(list, module) {
            found.push(Finding::about(
                &file.path,
                format!("not listed: add `mod {module};` to `{main}`"),
            ));
        }
    }
    found
}

/// The crate's folder and the module name of `…/tests/it/<module>.rs` or `…/tests/it/<module>/mod.rs`.
fn module_of(path: &str) -> Option<(&str, &str)> {
    let (folder, rest) = path.split_once("/tests/it/")?;
    let module = rest
        .strip_suffix("/mod.rs")
        .or_else(|| rest.strip_suffix(".rs"))?;
    (module != "main" && !module.contains('/')).then_some((folder, module))
}

fn lists(main: &str, module: &str) -> bool {
    main.lines()
        .map(str::trim)
        .any(|line| line.strip_prefix("pub(crate) ").unwrap_or(line) == format!("mod {module};"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.into(),
        }
    }

    #[test]
    fn refuses_a_test_file_that_is_not_listed() {
        let main = file(
            "crates/cp9/tests/it/main.rs",
            "//! Tests.\nmod up;\n// mod down;\nmod deep;\n",
        );
        let files = [
            main,
            file("crates/cp9/tests/it/up.rs", ""),
            file("crates/cp9/tests/it/down.rs", ""),
            file("crates/cp9/tests/it/deep/mod.rs", ""),
            file("crates/cp9/tests/it/deep/part.rs", ""),
            file("crates/cp9/tests/it/data.yaml", ""),
        ];
        let places: Vec<String> = check(&files)
            .into_iter()
            .map(|finding| finding.place)
            .collect();
        assert_eq!(places, ["crates/cp9/tests/it/down.rs"]);
    }

    #[test]
    fn refuses_test_files_without_any_list() {
        assert_eq!(check(&[file("crates/a/tests/it/b.rs", "")]).len(), 1);
    }
}
