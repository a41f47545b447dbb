//! The one plain directory source of an Application; every other kind is refused by name.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::Diagnostic;
use cp9_model::config::resolved::ResolvedConfig;
use serde_json::Value;

use super::{Wanted, overlay};
use crate::manifest::Manifest;
use crate::nearest::quoted;
use crate::problem;
use crate::tree::{AppTree, inside};

/// A plain directory source.
#[derive(Debug)]
pub(super) struct Directory<'a> {
    /// The folder, relative to the app-delivery root.
    pub path: Utf8PathBuf,
    /// The application object.
    pub object: &'a Manifest,
    value: Value,
}

impl Directory<'_> {
    /// A text field of the source.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        self.value[field].as_str().map(str::to_owned)
    }

    /// A field of `directory`.
    pub(super) fn option(&self, field: &str) -> &Value {
        &self.value["directory"][field]
    }
}

/// The directory of an application, or what this build lacks for it.
pub(super) fn plain_directory<'a>(
    config: &ResolvedConfig,
    tree: &AppTree,
    wanted: &Wanted<'_>,
    object: &'a Manifest,
) -> Result<Directory<'a>, Vec<Diagnostic>> {
    let source = single_source(object)?;
    let path = folder(tree, wanted, object, source)?;
    let value = overlay::merged(config, tree, &path, &wanted.app.name, source)?;
    let kinds: Vec<&str> = ["helm", "kustomize", "plugin", "directory"]
        .into_iter()
        .filter(|kind| is_set(&value[kind]))
        .collect();
    match kinds.as_slice() {
        ["directory"] => {}
        [] => detect(tree, &path, object)?,
        [kind] => return Err(not_yet(object, &format!("/spec/source/{kind}"), kind)),
        several => {
            return Err(vec![object.problem(
                problem::APPLICATION,
                "/spec/source",
                format!(
                    "application `{}` defines more than one kind of source: {}",
                    object.name(),
                    quoted(several.iter().copied())
                ),
                "keep one of them",
            )]);
        }
    }
    let jsonnet = &value["directory"]["jsonnet"];
    if is_set(jsonnet) {
        return Err(not_yet(object, "/spec/source/directory/jsonnet", "jsonnet"));
    }
    Ok(Directory {
        path,
        object,
        value,
    })
}

fn single_source(object: &Manifest) -> Result<&Value, Vec<Diagnostic>> {
    if !object.list("/spec/sources").is_empty() {
        return Err(not_yet(object, "/spec/sources", "multi-source"));
    }
    if object
        .value
        .pointer("/spec/sourceHydrator")
        .is_some_and(is_set)
    {
        return Err(not_yet(object, "/spec/sourceHydrator", "source hydrator"));
    }
    let source = object
        .value
        .pointer("/spec/source")
        .filter(|source| source.is_object())
        .ok_or_else(|| {
            vec![object.problem(
                problem::APPLICATION,
                "/spec/source",
                format!("application `{}` has no source", object.name()),
                "give it `spec.source` with `path`",
            )]
        })?;
    if is_set(&source["chart"]) {
        return Err(not_yet(object, "/spec/source/chart", "helm chart"));
    }
    Ok(source)
}

/// Argo CD drops empty blocks when it stores an application, so they decide nothing.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_set),
    }
}

fn not_yet(object: &Manifest, pointer: &str, kind: &str) -> Vec<Diagnostic> {
    vec![object.problem(
        problem::NOT_YET,
        pointer,
        format!("application `{}`: {kind} sources are not in this build yet", object.name()),
        "this build renders one plain `directory` source; put the rendered YAML into the env's folder",
    )]
}

/// The kind that Argo CD would detect by the files of the folder itself.
fn detect(tree: &AppTree, path: &Utf8Path, object: &Manifest) -> Result<(), Vec<Diagnostic>> {
    let names = || {
        tree.below(path)
            .filter(|(file, _)| file.components().count() == 1)
            .map(|(file, _)| file.as_str())
    };
    let found = |kind: &str, file: &str| {
        vec![object.problem(
            problem::NOT_YET,
            "/spec/source/path",
            format!("`{path}` holds `{file}`, so Argo CD takes it for {kind}, and {kind} sources are not in this build yet"),
            "this build renders plain directories; set `directory: {recurse: true}` if the folder is one all the same",
        )]
    };
    let kustomizations = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    if let Some(file) = names().find(|name| kustomizations.contains(name)) {
        return Err(found("kustomize", file));
    }
    match names().find(|name| name.ends_with("Chart.yaml")) {
        Some(file) => Err(found("helm", file)),
        None => Ok(()),
    }
}

/// `path`, literal below the app-delivery root whatever `repoURL` says, inside the environment.
fn folder(
    tree: &AppTree,
    wanted: &Wanted<'_>,
    object: &Manifest,
    source: &Value,
) -> Result<Utf8PathBuf, Vec<Diagnostic>> {
    let at = "/spec/source/path";
    let written = source["path"].as_str().unwrap_or_default();
    let wrong =
        |message: String, help: String| vec![object.problem(problem::PATH, at, message, help)];
    let Some(path) = inside(written) else {
        return Err(wrong(
            format!(
                "path `{written}` of application `{}` leaves the app-delivery root",
                object.name()
            ),
            "write it relative to the root, such as `envs/ENV/SERVICE`".to_owned(),
        ));
    };
    let env = &wanted.app.env;
    if !path.components().any(|part| part.as_str() == env) {
        let known = tree.environments();
        return Err(wrong(
            format!(
                "path `{written}` of application `{}` has no segment `{env}`",
                object.name()
            ),
            format!(
                "environments found: {}; set `app.env` of service `{}`, or correct `path`",
                quoted(known.iter().map(String::as_str)),
                wanted.service
            ),
        ));
    }
    if !tree.has_folder(&path) {
        let known = tree.environments();
        return Err(wrong(
            format!(
                "path `{written}` of application `{}` is no folder with files in the app-delivery root",
                object.name()
            ),
            format!(
                "environments found: {}",
                quoted(known.iter().map(String::as_str))
            ),
        ));
    }
    Ok(path)
}
