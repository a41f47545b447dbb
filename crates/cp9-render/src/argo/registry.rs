//! The registry file of a service and the application object in it.

use std::collections::BTreeSet;

use camino::Utf8Path;
use cp9_model::Diagnostic;
use cp9_model::config::resolved::ResolvedConfig;

use super::{Wanted, shown};
use crate::manifest::{self, Manifest};
use crate::nearest::{nearest, quoted};
use crate::problem;
use crate::tree::{AppTree, inside};

/// The Application that a service is bound to; never one of another name.
pub(super) fn find(
    config: &ResolvedConfig,
    tree: &AppTree,
    wanted: &Wanted<'_>,
) -> Result<Manifest, Vec<Diagnostic>> {
    let objects = read(config, tree, wanted)?;
    let named: Vec<&Manifest> = objects
        .iter()
        .filter(|object| object.name() == wanted.app.name)
        .collect();
    let Some(first) = named.first() else {
        return Err(vec![unknown(config, wanted, &objects)]);
    };
    if let Some(second) = named.get(1) {
        return Err(vec![second.problem(
            problem::APPLICATION,
            "/metadata/name",
            format!(
                "application `{}` is defined twice in `{}`",
                wanted.app.name, wanted.app.registry
            ),
            "keep one of them, or give the other a name of its own",
        )]);
    }
    refuse_kind(first)?;
    Ok((*first).clone())
}

fn refuse_kind(object: &Manifest) -> Result<(), Vec<Diagnostic>> {
    if object.kind() == "ApplicationSet" {
        return Err(vec![object.problem(
            problem::NOT_YET,
            "/kind",
            format!(
                "ApplicationSet `{}`: application sets are not in this build yet",
                object.name()
            ),
            "give the service an Application with a plain `directory` source",
        )]);
    }
    if object.text("/apiVersion") != Some("argoproj.io/v1alpha1") {
        return Err(vec![object.problem(
            problem::APPLICATION,
            "/apiVersion",
            format!(
                "Application `{}` is not of version `argoproj.io/v1alpha1`",
                object.name()
            ),
            "set `apiVersion: argoproj.io/v1alpha1`",
        )]);
    }
    Ok(())
}

/// The application objects of the service's registry file.
fn read(
    config: &ResolvedConfig,
    tree: &AppTree,
    wanted: &Wanted<'_>,
) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    let registry = &wanted.app.registry;
    let found = inside(registry).and_then(|path| Some((tree.files.get(&path)?, path)));
    let Some((bytes, path)) = found else {
        return Err(vec![missing(config, tree, wanted)]);
    };
    let objects = manifest::read(&path, &shown(config, &path), bytes)?;
    let is_app = |object: &Manifest| {
        object.group() == "argoproj.io" && matches!(object.kind(), "Application" | "ApplicationSet")
    };
    Ok(objects
        .into_iter()
        .flat_map(Manifest::items)
        .filter(is_app)
        .collect())
}

fn missing(config: &ResolvedConfig, tree: &AppTree, wanted: &Wanted<'_>) -> Diagnostic {
    let registry = &wanted.app.registry;
    let near = Utf8Path::new(registry)
        .parent()
        .unwrap_or(Utf8Path::new(""));
    let files: BTreeSet<&str> = tree
        .files
        .keys()
        .filter(|file| file.parent() == Some(near))
        .map(|file| file.as_str())
        .collect();
    let repo = config
        .app_delivery
        .as_ref()
        .map_or("", |delivery| delivery.repo.as_str());
    let help = match nearest(registry, files.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("files beside it: {}", quoted(files)),
    };
    problem::session(
        config,
        problem::REGISTRY,
        format!("{}/app/registry", wanted.pointer),
        format!(
            "registry file `{registry}` of service `{}` does not exist in `{repo}`",
            wanted.service
        ),
        help,
    )
}

fn unknown(config: &ResolvedConfig, wanted: &Wanted<'_>, objects: &[Manifest]) -> Diagnostic {
    let names: BTreeSet<&str> = objects.iter().map(Manifest::name).collect();
    let found = quoted(names.iter().copied());
    let alias = format!(
        "{}.app.name",
        wanted.pointer.trim_start_matches('/').replace('/', ".")
    );
    let help = match nearest(&wanted.app.name, names.iter().copied()) {
        Some(near) => {
            format!("did you mean `{near}`? if so, set `{alias}: {near}`; names are never inferred")
        }
        None => format!("set `{alias}` to the name that is meant, or correct `registry`"),
    };
    problem::session(
        config,
        problem::APPLICATION,
        format!("{}/app/name", wanted.pointer),
        format!(
            "no application `{}` in `{}`; found {found}",
            wanted.app.name, wanted.app.registry
        ),
        help,
    )
}
