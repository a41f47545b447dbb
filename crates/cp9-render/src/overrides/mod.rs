//! User override manifests: the layer between the app environment and what cp9 sets itself.
//!
//! A file holds documents, each one of three: an object with `apiVersion`, `kind` and
//! `metadata.name` is a strategic merge patch onto the service's object of that name (a JSON merge
//! patch for kinds that are not Kubernetes' own), or a new object if it is annotated so;
//! `target` with `patch` is a JSON patch; `target` with `set` sets plain values by pointer.

mod directives;
mod document;
mod fields;
mod json_patch;
mod order;
mod pointer;
mod strategic;
#[cfg(test)]
mod tests;

use camino::Utf8Path;
use cp9_model::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::manifest::{self, Manifest};
use crate::merge;
use crate::nearest::{nearest, quoted};
use crate::problem;
use crate::tree::FileTree;
use document::{Change, Document, Target};

/// The annotation by which an override file adds an object of its own.
const ADD: &str = "cp9.tidbcloud.com/override";

/// An override in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedOverride {
    /// The file, absolute.
    pub file: String,
    /// The line where its document begins.
    pub line: usize,
    /// `Kind/name` of the object it changes.
    pub target: String,
    /// What kind of patch it is.
    pub patch: PatchKind,
}

/// The kinds of patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatchKind {
    /// A strategic merge patch.
    Strategic,
    /// A JSON merge patch, for kinds that are not Kubernetes' own.
    Merge,
    /// A JSON patch.
    JsonPatch,
    /// Plain values by pointer.
    Set,
    /// An object that the app environment lacks.
    Add,
    /// An object of the app environment that is left out.
    Delete,
}

/// Why a patch is refused: the place in its document, what is wrong, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refused {
    at: String,
    message: String,
    help: String,
}

impl Refused {
    fn new(at: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            at: at.into(),
            message: message.into(),
            help: help.into(),
        }
    }

    fn of(self, document: &Manifest) -> Diagnostic {
        document.problem(problem::OVERRIDE, &self.at, self.message, self.help)
    }
}

/// The objects of a service, which overrides change.
pub(crate) struct Layer<'a> {
    /// The service.
    pub service: &'a str,
    /// The namespace of objects that name none.
    pub namespace: Option<&'a str>,
    /// The objects.
    pub manifests: &'a mut Vec<Manifest>,
}

impl Layer<'_> {
    /// Applies every document of a file, or says all that is wrong with it.
    pub(crate) fn apply(
        &mut self,
        file: &str,
        files: &FileTree,
    ) -> Option<Result<Vec<AppliedOverride>, Vec<Diagnostic>>> {
        let bytes = files.get(Utf8Path::new(file))?;
        let documents = match manifest::read(file.into(), file, bytes) {
            Ok(documents) => documents.into_iter().flat_map(Manifest::items),
            Err(found) => return Some(Err(found)),
        };
        let (mut applied, mut problems) = (Vec::new(), Vec::new());
        for document in documents {
            match self.document(&document) {
                Ok((target, patch)) => applied.push(AppliedOverride {
                    file: file.to_owned(),
                    line: document.line(),
                    target,
                    patch,
                }),
                Err(refused) => problems.push(refused.of(&document)),
            }
        }
        Some(if problems.is_empty() {
            Ok(applied)
        } else {
            Err(problems)
        })
    }

    fn document(&mut self, document: &Manifest) -> Result<(String, PatchKind), Refused> {
        let Document { target, change } = document::read(&document.value)?;
        let found = self.find(&target)?;
        let word = target.word();
        let Some(index) = found else {
            if matches!(change, Change::Add) {
                let mut object = document.clone();
                object.value = without_mark(&document.value);
                self.manifests.push(object);
                return Ok((word, PatchKind::Add));
            }
            return Err(self.unknown(&target, &change));
        };
        let object = &self.manifests[index];
        let (value, kind) = changed(object, document, &change)?;
        let Some(value) = value else {
            self.manifests.remove(index);
            return Ok((word, PatchKind::Delete));
        };
        same_object(object, &value, &target)?;
        self.manifests[index].overlay(value, &document.file);
        Ok((word, kind))
    }

    /// The object that is meant, or none.
    fn find(&self, target: &Target<'_>) -> Result<Option<usize>, Refused> {
        let namespace = |object: &Manifest| {
            let own = object.text("/metadata/namespace").or(self.namespace);
            match (target.namespace, own) {
                (Some(wanted), Some(own)) => wanted == own,
                _ => true,
            }
        };
        let found: Vec<usize> = (0..self.manifests.len())
            .filter(|index| {
                let object = &self.manifests[*index];
                target.names(object) && namespace(object)
            })
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            several => Err(Refused::new(
                target.at,
                format!(
                    "service `{}` has {} objects `{}`",
                    self.service,
                    several.len(),
                    target.word()
                ),
                "name the `namespace` or `apiVersion` of the one that is meant",
            )),
        }
    }

    fn unknown(&self, target: &Target<'_>, change: &Change<'_>) -> Refused {
        let words: Vec<String> = self
            .manifests
            .iter()
            .map(|object| match target.other_version(object) {
                Some(version) => format!("{} of {version}", object.word()),
                None => object.word(),
            })
            .collect();
        let known = || words.iter().map(String::as_str);
        let mut help = match nearest(&target.word(), known()) {
            Some(near) => format!("did you mean `{near}`? objects: {}", quoted(known())),
            None => format!("objects: {}", quoted(known())),
        };
        if matches!(change, Change::Object(_)) {
            help.push_str("; to add a new one, annotate it with `");
            help.push_str(ADD);
            help.push_str(": add`");
        }
        Refused::new(
            target.at,
            format!(
                "service `{}` has no object `{}`",
                self.service,
                target.word()
            ),
            help,
        )
    }
}

type Changed = (Option<Value>, PatchKind);

fn changed(
    object: &Manifest,
    document: &Manifest,
    change: &Change<'_>,
) -> Result<Changed, Refused> {
    Ok(match change {
        Change::Add => {
            return Err(Refused::new(
                document::ADD_AT,
                format!("`{}` is there already", object.word()),
                format!("take the annotation `{ADD}` out to patch it"),
            ));
        }
        Change::Object(patch) if fields::is_built_in(object.group()) => (
            strategic::merge(&object.value, patch, object.kind())?,
            PatchKind::Strategic,
        ),
        Change::Object(patch) => {
            refuse_directives(patch, "", document)?;
            let mut value = object.value.clone();
            merge::merge(&mut value, patch);
            (Some(value), PatchKind::Merge)
        }
        Change::JsonPatch(operations) => (
            Some(json_patch::apply(&object.value, operations)?),
            PatchKind::JsonPatch,
        ),
        Change::Set(values) => (
            Some(json_patch::set(&object.value, values)?),
            PatchKind::Set,
        ),
    })
}

/// A JSON merge patch would write the words of a strategic one into the object.
fn refuse_directives(value: &Value, at: &str, document: &Manifest) -> Result<(), Refused> {
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            let at = format!("{at}/{}", problem::token(key));
            let ours = ["$patch", "$retainKeys"].contains(&key.as_str())
                || key.starts_with("$deleteFromPrimitiveList/");
            if !ours {
                return refuse_directives(value, &at, document);
            }
            Err(Refused::new(
                at,
                format!(
                    "`{key}` means nothing for kind `{}`, which takes a JSON merge patch",
                    document.kind()
                ),
                "write `null` to remove a key, or use `target` with `patch`",
            ))
        }),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, value)| {
            refuse_directives(value, &format!("{at}/{index}"), document)
        }),
        _ => Ok(()),
    }
}

/// A patch changes an object and makes no other of it.
fn same_object(object: &Manifest, value: &Value, target: &Target<'_>) -> Result<(), Refused> {
    let same = |pointer: &str| value.pointer(pointer) == object.value.pointer(pointer);
    for pointer in ["/kind", "/metadata/name"] {
        if !same(pointer) {
            return Err(Refused::new(
                target.at,
                format!("the patch changes `{pointer}` of `{}`", target.word()),
                format!(
                    "leave it as it is; add an object of your own with the annotation `{ADD}: add`"
                ),
            ));
        }
    }
    Ok(())
}

/// A new object without the annotation that says so.
fn without_mark(value: &Value) -> Value {
    let mut value = value.clone();
    let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata
        && let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
    {
        annotations.shift_remove(ADD);
        if annotations.is_empty() {
            metadata.shift_remove("annotations");
        }
    }
    value
}
