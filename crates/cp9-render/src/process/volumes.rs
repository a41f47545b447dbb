//! Volumes of the container as files and private folders below the service's root.

use std::collections::BTreeMap;

use cp9_model::Diagnostic;
use serde_json::Value;

use super::context::Context;
use super::fields;
use super::objects::{Content, Keys};
use super::workload::POD;
use crate::nearest::quoted;
use crate::problem;
use crate::tree::inside;

/// What a file of a mount holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum File {
    /// Text of a `ConfigMap` or of the pod's fields.
    Text(String),
    /// Bytes of a `ConfigMap`.
    Bytes(Vec<u8>),
    /// Text of a Secret.
    Secret(String),
}

/// A volume at a path of the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The absolute path, clean.
    pub path: String,
    /// The volume's name.
    pub volume: String,
    /// Where it is mounted.
    pub pointer: String,
    /// Its files by path below the mount; an empty path is the mount itself.
    pub files: BTreeMap<String, File>,
    /// True if it brings files that the service is meant to read.
    pub must_be_named: bool,
}

impl Mount {
    /// True when the mount is one file.
    pub(crate) fn is_file(&self) -> bool {
        self.files.contains_key("")
    }
}

type Files = BTreeMap<String, File>;
type Wrong = Box<Diagnostic>;

/// Every mount of the container, in its order.
pub(crate) fn mounts(context: &Context<'_>) -> (Vec<Mount>, Vec<Diagnostic>) {
    let at = format!("{}/volumeMounts", context.workload.at);
    let mut mounts: Vec<Mount> = Vec::new();
    let mut problems = Vec::new();
    for (index, mount) in context.workload.manifest.list(&at).iter().enumerate() {
        let pointer = format!("{at}/{index}");
        match one(context, mount, &pointer) {
            Ok(Some(mount)) => match clash(context, &mounts, &mount) {
                Some(found) => problems.push(found),
                None => mounts.push(mount),
            },
            Ok(None) => {}
            Err(found) => problems.push(*found),
        }
    }
    (mounts, problems)
}

fn clash(context: &Context<'_>, mounts: &[Mount], new: &Mount) -> Option<Diagnostic> {
    let holds = |file: &Mount, other: &Mount| {
        file.is_file() && other.path.starts_with(&format!("{}/", file.path))
    };
    let other = mounts
        .iter()
        .find(|known| known.path == new.path || holds(known, new) || holds(new, known))?;
    Some(context.problem(
        problem::VOLUME,
        &format!("{}/mountPath", new.pointer),
        format!(
            "volumes `{}` and `{}` are mounted over each other at `{}`",
            other.volume, new.volume, new.path
        ),
        "mount them at paths of their own",
    ))
}

fn one(context: &Context<'_>, mount: &Value, pointer: &str) -> Result<Option<Mount>, Wrong> {
    let name = mount["name"].as_str().unwrap_or_default();
    if context.workload.ignore.covers(&format!("volumes/{name}")) {
        return Ok(None);
    }
    let path = clean(context, mount, pointer)?;
    if !mount["subPathExpr"].is_null() {
        let help = "use `subPath` with a fixed path";
        let message = format!(
            "mount of volume `{name}` uses `subPathExpr`, which a process host does not do"
        );
        return Err(Box::new(context.problem(
            problem::VOLUME,
            &format!("{pointer}/subPathExpr"),
            message,
            help,
        )));
    }
    let Some((volume, at)) = find(context, name) else {
        if claim_template(context, name) {
            let (volume, pointer) = (name.to_owned(), pointer.to_owned());
            return Ok(Some(Mount {
                path,
                volume,
                pointer,
                files: Files::new(),
                must_be_named: false,
            }));
        }
        let help = "declare it under `spec.template.spec.volumes`";
        let message = format!("volume `{name}` is mounted and not declared");
        return Err(Box::new(context.problem(
            problem::VOLUME,
            &format!("{pointer}/name"),
            message,
            help,
        )));
    };
    let files = files(context, volume, &at)?;
    let brings = !files.is_empty();
    let files = sub_path(context, mount, files, pointer)?;
    let (volume, pointer) = (name.to_owned(), pointer.to_owned());
    Ok(Some(Mount {
        path,
        volume,
        pointer,
        files,
        must_be_named: brings,
    }))
}

fn clean(context: &Context<'_>, mount: &Value, pointer: &str) -> Result<String, Wrong> {
    let written = mount["mountPath"].as_str().unwrap_or_default();
    let path = if written.split('/').any(|part| part == "..") {
        None
    } else {
        inside(written.trim_start_matches('/'))
    };
    path.filter(|path| !path.as_str().is_empty())
        .map(|path| format!("/{path}"))
        .ok_or_else(|| {
            let help = "mount it at an absolute path below `/`, without `..`";
            let message = format!("`{written}` is no path that a process host can lay");
            Box::new(context.problem(
                problem::VOLUME,
                &format!("{pointer}/mountPath"),
                message,
                help,
            ))
        })
}

fn find<'a>(context: &'a Context<'_>, name: &str) -> Option<(&'a Value, String)> {
    let at = format!("{POD}/volumes");
    let volumes = context.workload.manifest.list(&at);
    let index = volumes
        .iter()
        .position(|volume| volume["name"].as_str() == Some(name))?;
    Some((&volumes[index], format!("{at}/{index}")))
}

fn claim_template(context: &Context<'_>, name: &str) -> bool {
    let templates = context.workload.manifest.list("/spec/volumeClaimTemplates");
    templates
        .iter()
        .any(|template| template["metadata"]["name"].as_str() == Some(name))
}

/// The files of a volume; none for a claim or an empty folder. Other kinds are refused elsewhere.
fn files(context: &Context<'_>, volume: &Value, at: &str) -> Result<Files, Wrong> {
    if !volume["configMap"].is_null() {
        return object(
            context,
            &volume["configMap"],
            "name",
            false,
            &format!("{at}/configMap"),
        );
    }
    if !volume["secret"].is_null() {
        return object(
            context,
            &volume["secret"],
            "secretName",
            true,
            &format!("{at}/secret"),
        );
    }
    if !volume["downwardAPI"].is_null() {
        return downward(
            context,
            &volume["downwardAPI"],
            &format!("{at}/downwardAPI"),
        );
    }
    let mut files = Files::new();
    for (index, source) in volume["projected"]["sources"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        files.extend(projected(
            context,
            source,
            &format!("{at}/projected/sources/{index}"),
        )?);
    }
    Ok(files)
}

fn projected(context: &Context<'_>, source: &Value, at: &str) -> Result<Files, Wrong> {
    if !source["configMap"].is_null() {
        return object(
            context,
            &source["configMap"],
            "name",
            false,
            &format!("{at}/configMap"),
        );
    }
    if !source["secret"].is_null() {
        return object(
            context,
            &source["secret"],
            "name",
            true,
            &format!("{at}/secret"),
        );
    }
    if !source["downwardAPI"].is_null() {
        return downward(
            context,
            &source["downwardAPI"],
            &format!("{at}/downwardAPI"),
        );
    }
    let kinds: Vec<&str> = source
        .as_object()
        .into_iter()
        .flatten()
        .map(|(kind, _)| kind.as_str())
        .collect();
    let message = format!(
        "projected source {} has no meaning for a process",
        quoted(kinds)
    );
    let help =
        "leave the volume out by `volumes/NAME` in `run.ignore`, or use a host with a cluster";
    Err(Box::new(context.problem(
        problem::VOLUME,
        at,
        message,
        help,
    )))
}

fn object(
    context: &Context<'_>,
    reference: &Value,
    field: &str,
    secret: bool,
    at: &str,
) -> Result<Files, Wrong> {
    let name = reference[field].as_str().unwrap_or_default();
    let optional = reference["optional"] == Value::Bool(true);
    let keys = if secret {
        context.objects.secret(name)
    } else {
        context.objects.config_map(name)
    };
    let kind = if secret { "Secret" } else { "ConfigMap" };
    let Some(keys) = keys else {
        if optional {
            return Ok(Files::new());
        }
        let message = format!("{kind} `{name}` is not in the manifests of this session");
        let help = format!(
            "add it to the app's folder, or set `optional: true` (service `{}`)",
            context.name()
        );
        return Err(Box::new(context.problem(
            problem::VOLUME,
            &format!("{at}/{field}"),
            message,
            help,
        )));
    };
    let wrong = |message: String| {
        let help = format!(
            "keys of {kind} `{name}`: {}",
            quoted(keys.keys().map(String::as_str))
        );
        Box::new(context.problem(problem::VOLUME, at, message, help))
    };
    let mut files = Files::new();
    for (key, path) in wanted(reference, &keys) {
        let Some(path) = inside(&path)
            .filter(|path| !path.as_str().is_empty() && !path.as_str().starts_with(".."))
        else {
            return Err(wrong(format!(
                "`{path}` is no path for a key of {kind} `{name}`"
            )));
        };
        match keys.get(&key) {
            Some(Content::Text(text)) if secret => {
                drop(files.insert(path.into(), File::Secret(text.clone())));
            }
            Some(Content::Text(text)) => drop(files.insert(path.into(), File::Text(text.clone()))),
            Some(Content::Bytes(bytes)) if !secret => {
                drop(files.insert(path.into(), File::Bytes(bytes.clone())));
            }
            Some(_) => return Err(wrong(format!("key `{key}` of {kind} `{name}` is no text"))),
            None if optional => {}
            None => return Err(wrong(format!("{kind} `{name}` has no key `{key}`"))),
        }
    }
    Ok(files)
}

/// Keys with the paths they are laid at: `items`, else every key under its own name.
fn wanted(reference: &Value, keys: &Keys) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match reference["items"].as_array() {
        Some(items) => items
            .iter()
            .map(|item| (text(&item["key"]), text(&item["path"])))
            .collect(),
        None => keys.keys().map(|key| (key.clone(), key.clone())).collect(),
    }
}

fn downward(context: &Context<'_>, source: &Value, at: &str) -> Result<Files, Wrong> {
    let mut files = Files::new();
    for (index, item) in source["items"].as_array().into_iter().flatten().enumerate() {
        let field = item["fieldRef"]["fieldPath"].as_str().unwrap_or_default();
        let path = item["path"]
            .as_str()
            .and_then(inside)
            .filter(|path| !path.as_str().is_empty());
        let (Some(value), Some(path)) = (fields::value(context, field), path) else {
            let message = format!("downward item {} has no meaning for a process", index + 1);
            let help = format!("fields with a local value: {}", fields::KNOWN);
            return Err(Box::new(context.problem(
                problem::VOLUME,
                &format!("{at}/items/{index}"),
                message,
                help,
            )));
        };
        files.insert(path.into(), File::Text(value));
    }
    Ok(files)
}

/// The part of a volume that `subPath` names: one file, or what lies below a folder.
fn sub_path(
    context: &Context<'_>,
    mount: &Value,
    files: Files,
    pointer: &str,
) -> Result<Files, Wrong> {
    let written = mount["subPath"].as_str().unwrap_or_default();
    if written.is_empty() || files.is_empty() {
        return Ok(files);
    }
    let sub = inside(written).unwrap_or_default();
    let below = |path: &str| {
        camino::Utf8Path::new(path)
            .strip_prefix(&sub)
            .map(ToString::to_string)
            .ok()
    };
    let chosen: Files = files
        .iter()
        .filter_map(|(path, file)| Some((below(path)?, file.clone())))
        .collect();
    if chosen.is_empty() {
        let message = format!("`subPath: {written}` names no file of the volume");
        let help = format!("files there: {}", quoted(files.keys().map(String::as_str)));
        return Err(Box::new(context.problem(
            problem::VOLUME,
            &format!("{pointer}/subPath"),
            message,
            help,
        )));
    }
    Ok(chosen)
}
