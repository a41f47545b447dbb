//! The files of a plain directory that Argo CD would apply, and the objects in them.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::Diagnostic;
use cp9_model::config::resolved::ResolvedConfig;
use serde_json::Value;

use super::glob::Glob;
use super::shown;
use super::source::Directory;
use crate::manifest::{self, Manifest};
use crate::problem;
use crate::tree::AppTree;

/// A file with this text asks not to be rendered.
const SKIP: &str = "+argocd:skip-file-rendering";

/// What a directory holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its objects.
    pub manifests: Vec<Manifest>,
    /// Files without one.
    pub skipped: Vec<Utf8PathBuf>,
}

/// Reads the directory of an application.
pub(super) fn read(
    config: &ResolvedConfig,
    tree: &AppTree,
    source: &Directory<'_>,
) -> Result<Found, Vec<Diagnostic>> {
    let select = Select::new(source)?;
    let mut found = Found::default();
    let mut problems = Vec::new();
    for (relative, bytes) in tree.below(&source.path) {
        if !select.takes(relative) {
            continue;
        }
        let file = source.path.join(relative);
        match read_file(&file, &shown(config, &file), bytes) {
            Ok(manifests) if manifests.is_empty() => found.skipped.push(file),
            Ok(manifests) => found.manifests.extend(manifests),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(problems)
    }
}

struct Select {
    recurse: bool,
    include: Option<Glob>,
    exclude: Option<Glob>,
}

impl Select {
    fn new(source: &Directory<'_>) -> Result<Self, Vec<Diagnostic>> {
        let glob = |field: &str| match source.option(field) {
            Value::String(pattern) if !pattern.is_empty() => {
                Glob::new(pattern).map(Some).map_err(|reason| {
                    vec![source.object.problem(
                        problem::APPLICATION,
                        &format!("/spec/source/directory/{field}"),
                        format!("`{field}: {pattern}` is no glob: {reason}"),
                        "Argo CD would match nothing; correct the pattern",
                    )]
                })
            }
            _ => Ok(None),
        };
        let recurse = source.option("recurse") == &Value::Bool(true);
        Ok(Self {
            recurse,
            include: glob("include")?,
            exclude: glob("exclude")?,
        })
    }

    fn takes(&self, file: &Utf8Path) -> bool {
        let known = matches!(file.extension(), Some("yaml" | "yml" | "json" | "jsonnet"));
        let level = self.recurse || file.components().count() == 1;
        let excluded = self
            .exclude
            .as_ref()
            .is_some_and(|glob| glob.matches(file.as_str()));
        let included = self
            .include
            .as_ref()
            .is_none_or(|glob| glob.matches(file.as_str()));
        known && level && !excluded && included
    }
}

fn read_file(file: &Utf8Path, shown: &str, bytes: &[u8]) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    if contains(bytes, SKIP) {
        return Ok(Vec::new());
    }
    match file.extension() {
        Some("jsonnet") => Err(vec![problem::bare(
            problem::NOT_YET,
            shown,
            "",
            format!("`{file}`: jsonnet is not in this build yet"),
            "exclude the file by `directory.exclude`, or replace it by the YAML it makes",
        )]),
        Some("json") => json(file, shown, bytes),
        _ => yaml(file, shown, bytes),
    }
}

/// JSON must hold exactly one object; nothing of it is forgiven.
fn json(file: &Utf8Path, shown: &str, bytes: &[u8]) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    let wrong = |line: usize, column: usize, message: String| {
        let help = "a `.json` file in an application's folder must hold one Kubernetes object; exclude others by `directory.exclude`";
        let mut found = problem::bare(problem::MANIFEST, shown, "", message, help);
        (found.line, found.column) = (line.max(1), column.max(1));
        vec![found]
    };
    serde_json::from_slice::<Value>(bytes).map_err(|error| {
        wrong(
            error.line(),
            error.column(),
            format!("`{file}` is no single JSON object"),
        )
    })?;
    let manifests = manifest::read(file, shown, bytes)?;
    if !manifests.iter().all(is_object) {
        return Err(wrong(1, 1, format!("`{file}` holds no Kubernetes object")));
    }
    Ok(manifests.into_iter().flat_map(Manifest::items).collect())
}

/// YAML that is no Kubernetes object is passed over, unless the file speaks of one.
fn yaml(file: &Utf8Path, shown: &str, bytes: &[u8]) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    let speaks = ["apiVersion:", "kind:", "metadata:"]
        .iter()
        .all(|word| contains(bytes, word));
    let manifests = match manifest::read(file, shown, bytes) {
        Ok(manifests) => manifests,
        Err(_) if !speaks => return Ok(Vec::new()),
        Err(found) => return Err(found),
    };
    let Some(odd) = manifests.iter().find(|manifest| !is_object(manifest)) else {
        return Ok(manifests.into_iter().flat_map(Manifest::items).collect());
    };
    if !speaks {
        return Ok(Vec::new());
    }
    Err(vec![odd.problem(
        problem::MANIFEST,
        "",
        format!("`{file}` holds a document that is no Kubernetes object"),
        "give it `apiVersion`, `kind` and `metadata.name`, or move it out of the folder",
    )])
}

fn is_object(manifest: &Manifest) -> bool {
    manifest.value.is_object() && !manifest.kind().is_empty()
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes
        .windows(word.len())
        .any(|window| window == word.as_bytes())
}
