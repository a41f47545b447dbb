//! `fieldRef` of variables and downward volumes, with fixed local values.

use serde_json::Value;

use super::context::Context;
use crate::process::workload::TEMPLATE;

/// The fields that have a local value, for messages.
pub(crate) const KNOWN: &str = "`metadata.name`, `metadata.namespace`, `metadata.uid`, `metadata.labels['KEY']`, \
    `metadata.annotations['KEY']`, `spec.nodeName`, `spec.serviceAccountName`, `status.hostIP`, `status.podIP`, `status.podIPs`";

/// The local value of a field path; none if a process has no such thing.
pub(crate) fn value(context: &Context<'_>, path: &str) -> Option<String> {
    let spec = |field: &str| {
        context
            .workload
            .manifest
            .text(&format!("{TEMPLATE}/spec/{field}"))
    };
    Some(match path {
        "metadata.name" => format!("{}-0", context.workload.manifest.name()),
        "metadata.namespace" => context.session.scope.session.to_string(),
        "metadata.uid" => "00000000-0000-4000-8000-000000000000".to_owned(),
        "metadata.labels" => lines(context, "labels"),
        "metadata.annotations" => lines(context, "annotations"),
        "spec.nodeName" => "localhost".to_owned(),
        "spec.serviceAccountName" => spec("serviceAccountName").unwrap_or("default").to_owned(),
        "status.hostIP" | "status.podIP" | "status.hostIPs" | "status.podIPs" => {
            "127.0.0.1".to_owned()
        }
        other => return keyed(context, other),
    })
}

/// `metadata.labels['KEY']`: empty when the pod has no such key.
fn keyed(context: &Context<'_>, path: &str) -> Option<String> {
    let (part, key) = path
        .strip_prefix("metadata.")?
        .strip_suffix("']")?
        .split_once("['")?;
    matches!(part, "labels" | "annotations").then(|| {
        let found = metadata(context, part)
            .and_then(|map| map.get(key))
            .and_then(Value::as_str);
        found.unwrap_or_default().to_owned()
    })
}

fn lines(context: &Context<'_>, part: &str) -> String {
    let mut lines: Vec<String> = metadata(context, part)
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={:?}", value.as_str().unwrap_or_default()))
        .collect();
    lines.sort();
    lines.join("\n")
}

fn metadata<'a>(
    context: &'a Context<'_>,
    part: &str,
) -> Option<&'a serde_json::Map<String, Value>> {
    context
        .workload
        .manifest
        .value
        .pointer(&format!("{TEMPLATE}/metadata/{part}"))?
        .as_object()
}
