//! Reading Argo CD Applications without Argo CD: the registry object, its one plain directory and
//! the manifests in it, as Argo CD itself would take them.

pub(crate) mod directory;
pub(crate) mod glob;
mod overlay;
mod registry;
mod source;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::{App, ResolvedConfig};
use cp9_model::graph::AppBinding;
use cp9_model::{Diagnostic, ServiceName};

use crate::manifest::Manifest;
use crate::overrides::{AppliedOverride, Layer};
use crate::problem;
use crate::tree::AppTree;

/// What a `source` or `live` service brings from the app-delivery tree.
#[derive(Debug, Clone)]
pub struct ServiceInput {
    /// The service.
    pub service: ServiceName,
    /// The application object and the folder it renders.
    pub app: AppBinding,
    /// `spec.source.repoURL`, for the report only.
    pub repo_url: Option<String>,
    /// `spec.source.targetRevision`, for the report only.
    pub revision: Option<String>,
    /// `spec.destination.namespace`.
    pub namespace: Option<String>,
    /// The objects of the folder, in the order of its files.
    pub manifests: Vec<Manifest>,
    /// Files of the folder that hold no Kubernetes object or ask not to be rendered.
    pub skipped: Vec<Utf8PathBuf>,
    /// The overrides in force.
    pub overrides: Vec<AppliedOverride>,
}

/// Loads the application of every `source` and `live` service, or says all that is wrong.
pub fn load(config: &ResolvedConfig, tree: &AppTree) -> Result<Vec<ServiceInput>, Vec<Diagnostic>> {
    let mut inputs = Vec::new();
    let mut problems = Vec::new();
    for wanted in wanted(config) {
        match load_one(config, tree, &wanted) {
            Ok(input) => inputs.push(input),
            Err(found) => problems.extend(found),
        }
    }
    inputs.sort_by(|a, b| a.service.cmp(&b.service));
    if problems.is_empty() {
        Ok(inputs)
    } else {
        Err(problems)
    }
}

/// A service whose application is looked for.
struct Wanted<'a> {
    service: &'a ServiceName,
    app: &'a App,
    overrides: &'a [String],
    /// Where the service stands in the session file.
    pointer: String,
}

fn wanted(config: &ResolvedConfig) -> Vec<Wanted<'_>> {
    let source = config
        .services
        .source
        .iter()
        .map(|(service, source)| Wanted {
            service,
            app: &source.app,
            overrides: &source.overrides,
            pointer: format!("/services/source/{service}"),
        });
    let live = config.services.live.iter().map(|(service, live)| Wanted {
        service,
        app: &live.app,
        overrides: &live.overrides,
        pointer: format!("/services/live/{service}"),
    });
    source.chain(live).collect()
}

fn load_one(
    config: &ResolvedConfig,
    tree: &AppTree,
    wanted: &Wanted<'_>,
) -> Result<ServiceInput, Vec<Diagnostic>> {
    let object = registry::find(config, tree, wanted)?;
    let source = source::plain_directory(config, tree, wanted, &object)?;
    let mut found = directory::read(config, tree, &source)?;
    let namespace = object.text("/spec/destination/namespace");
    let overrides = overlay_overrides(config, tree, wanted, namespace, &mut found.manifests)?;
    Ok(ServiceInput {
        service: wanted.service.clone(),
        app: AppBinding {
            kind: "Application".to_owned(),
            name: wanted.app.name.clone(),
            registry: wanted.app.registry.clone(),
            env: wanted.app.env.clone(),
            path: source.path.to_string(),
        },
        repo_url: source.text("repoURL"),
        revision: source.text("targetRevision"),
        namespace: namespace.map(str::to_owned),
        manifests: found.manifests,
        skipped: found.skipped,
        overrides,
    })
}

/// Lays the service's override files over its objects, in the order of the session file.
fn overlay_overrides(
    config: &ResolvedConfig,
    tree: &AppTree,
    wanted: &Wanted<'_>,
    namespace: Option<&str>,
    manifests: &mut Vec<Manifest>,
) -> Result<Vec<AppliedOverride>, Vec<Diagnostic>> {
    let mut layer = Layer {
        service: wanted.service.as_str(),
        namespace,
        manifests,
    };
    let (mut applied, mut problems) = (Vec::new(), Vec::new());
    for (index, file) in wanted.overrides.iter().enumerate() {
        match layer.apply(file, &tree.overrides) {
            Some(Ok(found)) => applied.extend(found),
            Some(Err(found)) => problems.extend(found),
            None => problems.push(problem::session(
                config,
                problem::OVERRIDE,
                format!("{}/overrides/{index}", wanted.pointer),
                format!(
                    "override file `{file}` of service `{}` does not exist",
                    wanted.service
                ),
                "correct the path, which is relative to the session file, or take it out",
            )),
        }
    }
    if problems.is_empty() {
        Ok(applied)
    } else {
        Err(problems)
    }
}

/// The name of a file of the tree in problems: a full path where the tree is a local folder.
fn shown(config: &ResolvedConfig, file: &Utf8Path) -> String {
    match &config.app_delivery {
        Some(delivery) if delivery.repo.starts_with('/') => {
            Utf8Path::new(&delivery.repo).join(file).into_string()
        }
        _ => file.to_string(),
    }
}

#[cfg(test)]
mod tests;
