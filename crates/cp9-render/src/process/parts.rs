//! Parts of the manifests that a process cannot have: refused unless `run.ignore` leaves them out;
//! and parts that simply do not apply.

use cp9_model::Diagnostic;
use serde_json::Value;

use super::workload::{POD, Workload, is_hook, is_workload};
use crate::argo::ServiceInput;
use crate::manifest::Manifest;
use crate::problem;

/// Kinds that run something beside the service.
const RUNS: [&str; 7] = [
    "Job",
    "CronJob",
    "DaemonSet",
    "Pod",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
];
/// Kinds that a process takes what it needs from.
const USED: [&str; 3] = ["ConfigMap", "Secret", "Service"];
/// Volumes that can be laid as files and folders.
const LAID: [&str; 6] = [
    "configMap",
    "secret",
    "emptyDir",
    "persistentVolumeClaim",
    "projected",
    "downwardAPI",
];

/// A part that needs a word in `run.ignore`.
struct Part<'a> {
    word: String,
    manifest: &'a Manifest,
    pointer: String,
    what: String,
}

/// What became of the parts.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The refused ones.
    pub problems: Vec<Diagnostic>,
    /// Those that `run.ignore` leaves out.
    pub ignored: Vec<String>,
    /// Kinds and fields without meaning for a process.
    pub not_applied: Vec<String>,
}

/// Judges every part of a service's manifests.
pub(crate) fn judge(input: &ServiceInput, workload: &Workload<'_>) -> Parts {
    let mut parts = objects(input, workload);
    parts.extend(containers(workload));
    parts.extend(volumes(workload));
    let mut result = Parts {
        not_applied: not_applied(input, workload),
        ..Parts::default()
    };
    for part in parts {
        if workload.ignore.covers(&part.word) {
            result.ignored.push(part.word);
        } else {
            result.problems.push(part.manifest.problem(
                problem::PART,
                &part.pointer,
                format!("{} of service `{}` cannot be part of a process", part.what, input.service),
                format!("add `{}` to `run.ignore` if the service does without it, or use a host with a cluster", part.word),
            ));
        }
    }
    result
}

fn objects<'a>(input: &'a ServiceInput, workload: &Workload<'a>) -> Vec<Part<'a>> {
    let same = |manifest: &Manifest| std::ptr::eq(manifest, workload.manifest);
    let what = |manifest: &Manifest| {
        if is_hook(manifest) {
            Some(format!("hook `{}`", manifest.word()))
        } else if RUNS.contains(&manifest.kind()) {
            Some(format!("`{}`", manifest.word()))
        } else if is_workload(manifest) && !same(manifest) {
            Some(format!("a second workload `{}`", manifest.word()))
        } else {
            None
        }
    };
    input
        .manifests
        .iter()
        .filter_map(|manifest| {
            let what = what(manifest)?;
            Some(Part {
                word: manifest.word(),
                manifest,
                pointer: "/kind".to_owned(),
                what,
            })
        })
        .collect()
}

fn containers<'a>(workload: &Workload<'a>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for (field, what) in [
        ("initContainers", "init container"),
        ("containers", "container"),
    ] {
        let at = format!("{POD}/{field}");
        for (index, container) in workload.manifest.list(&at).iter().enumerate() {
            let pointer = format!("{at}/{index}");
            if pointer == workload.at {
                continue;
            }
            let name = container["name"].as_str().unwrap_or_default();
            let (word, what) = (format!("{field}/{name}"), format!("{what} `{name}`"));
            parts.push(Part {
                word,
                manifest: workload.manifest,
                pointer,
                what,
            });
        }
    }
    if !workload.container["lifecycle"]["postStart"].is_null() {
        let pointer = format!("{}/lifecycle/postStart", workload.at);
        let (word, what) = (
            "lifecycle/postStart".to_owned(),
            "a postStart hook".to_owned(),
        );
        parts.push(Part {
            word,
            manifest: workload.manifest,
            pointer,
            what,
        });
    }
    parts
}

/// Volumes that the container mounts and that cannot be laid.
fn volumes<'a>(workload: &Workload<'a>) -> Vec<Part<'a>> {
    let at = format!("{POD}/volumes");
    let mounts = workload
        .container
        .get("volumeMounts")
        .and_then(Value::as_array);
    let mounted = |name: &str| {
        mounts
            .into_iter()
            .flatten()
            .any(|mount| mount["name"].as_str() == Some(name))
    };
    workload
        .manifest
        .list(&at)
        .iter()
        .enumerate()
        .filter_map(|(index, volume)| {
            let name = volume["name"].as_str()?;
            let kinds = volume.as_object()?.keys().filter(|key| *key != "name");
            let kind = kinds.clone().find(|kind| !LAID.contains(&kind.as_str()))?;
            mounted(name).then(|| Part {
                word: format!("volumes/{name}"),
                manifest: workload.manifest,
                pointer: format!("{at}/{index}/{kind}"),
                what: format!("{kind} volume `{name}`"),
            })
        })
        .collect()
}

fn not_applied(input: &ServiceInput, workload: &Workload<'_>) -> Vec<String> {
    let mut words: Vec<String> = input
        .manifests
        .iter()
        .filter(|manifest| !is_hook(manifest) && !is_workload(manifest))
        .filter(|manifest| !RUNS.contains(&manifest.kind()) && !USED.contains(&manifest.kind()))
        .map(Manifest::word)
        .collect();
    let pod = &workload.manifest.value["spec"]["template"]["spec"];
    let pod_fields = [
        "affinity",
        "hostNetwork",
        "imagePullSecrets",
        "nodeSelector",
        "securityContext",
        "serviceAccountName",
        "tolerations",
        "topologySpreadConstraints",
    ];
    words.extend(
        pod_fields
            .iter()
            .filter(|field| !pod[field].is_null())
            .map(|field| format!("{}/{field}", &POD[1..])),
    );
    let fields = ["resources", "securityContext", "imagePullPolicy"];
    let container = |field: &&&str| !workload.container[**field].is_null();
    words.extend(
        fields
            .iter()
            .filter(container)
            .map(|field| format!("container {field}")),
    );
    if !workload.container["lifecycle"]["preStop"].is_null() {
        words.push("container lifecycle/preStop".to_owned());
    }
    match workload.manifest.value["spec"]["replicas"].as_u64() {
        None | Some(1) => {}
        Some(count) => words.push(format!("spec/replicas {count} (one process)")),
    }
    words
}
