//! The published schemas: current, and true to what is accepted, by an independent validator.

use std::path::{Path, PathBuf};

use camino::Utf8Path;
use cp9_model::config::{self, schema};
use cp9_model::yaml::{Options, parse_bytes};
use serde_json::Value;
use snapbox::{Assert, Data};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(file: &Path) -> Value {
    let bytes = std::fs::read(file).expect("file");
    let mut documents =
        parse_bytes(&file.to_string_lossy(), &bytes, Options::config()).expect("YAML");
    documents.remove(0).to_json()
}

fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.starts_with("cp9.") && name.ends_with(".example.yaml") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn committed_schemas_are_current() {
    for (name, schema) in schema::all() {
        let file = root().join("schemas").join(name);
        Assert::new()
            .action_env("SNAPSHOTS")
            .eq(schema::text(&schema), Data::read_from(&file, None).raw());
    }
}

#[test]
fn schemas_are_themselves_valid() {
    for (name, schema) in schema::all() {
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
    }
}

#[test]
fn an_independent_validator_accepts_right_files() {
    let validator = jsonschema::validator_for(&schema::generate()).expect("schema");
    let mut files = examples();
    assert!(
        !files.is_empty() || !root().join("examples").exists(),
        "no example found"
    );
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/full.yaml"));
    for file in files {
        let errors: Vec<_> = validator
            .iter_errors(&json(&file))
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", file.display());
    }
}

#[test]
fn examples_load_in_this_build() {
    for file in examples() {
        let bytes = std::fs::read(&file).expect("file");
        let path = Utf8Path::from_path(&file).expect("UTF-8");
        let loaded = config::load(path, &bytes);
        assert!(loaded.is_ok(), "{loaded:#?}");
    }
}

#[test]
fn both_validators_agree_on_bad_files() {
    let validator = jsonschema::validator_for(&schema::generate()).expect("schema");
    let shape = ["CP9-C010", "CP9-C011", "CP9-C012", "CP9-C014", "CP9-C016"];
    for entry in
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")).expect("folder")
    {
        let file = entry.expect("entry").path();
        let bytes = std::fs::read(&file).expect("file");
        let Ok(mut documents) = parse_bytes("f", &bytes, Options::config()) else {
            continue;
        };
        if file.extension().is_none_or(|extension| extension != "yaml") || documents.len() != 1 {
            continue;
        }
        let found = config::load(Utf8Path::new("/w/cp9.yaml"), &bytes).expect_err("bad");
        if found.iter().any(|one| shape.contains(&one.code.as_str())) {
            assert!(
                !validator.is_valid(&documents.remove(0).to_json()),
                "{}",
                file.display()
            );
        }
    }
}
