//! `.argocd-source.yaml` and `.argocd-source-<app>.yaml`: merged into the source before it is read.

use camino::Utf8Path;
use cp9_model::Diagnostic;
use cp9_model::config::resolved::ResolvedConfig;
use serde_json::Value;

use super::shown;
use crate::manifest;
use crate::merge::merge;
use crate::tree::AppTree;

/// Fields that the files cannot change.
const FIXED: [&str; 4] = ["chart", "path", "repoURL", "targetRevision"];

/// The source after the files beside the manifests have had their say.
pub(super) fn merged(
    config: &ResolvedConfig,
    tree: &AppTree,
    folder: &Utf8Path,
    app: &str,
    source: &Value,
) -> Result<Value, Vec<Diagnostic>> {
    let mut merged = source.clone();
    for name in [
        ".argocd-source.yaml".to_owned(),
        format!(".argocd-source-{app}.yaml"),
    ] {
        let file = folder.join(name);
        let Some(bytes) = tree.files.get(&file) else {
            continue;
        };
        for patch in manifest::read(&file, &shown(config, &file), bytes)? {
            if patch.value.is_object() {
                merge(&mut merged, &patch.value);
            }
        }
    }
    for field in FIXED {
        merged[field] = source.get(field).cloned().unwrap_or(Value::Null);
    }
    Ok(merged)
}
