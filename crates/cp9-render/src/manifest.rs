//! One object of an app-delivery file, with the places of its values.

use std::ops::Range;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::Diagnostic;
use cp9_model::diagnostic::{Code, Finding, Source};
use cp9_model::yaml::{self, Document, Options, Spans};
use serde_json::Value;

use crate::nearest::quoted;

/// A file of the app-delivery tree as text.
#[derive(Debug)]
struct File {
    shown: String,
    content: String,
    documents: Vec<Document>,
}

/// One Kubernetes object and where it stands.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The file, relative to the app-delivery root.
    pub file: Utf8PathBuf,
    /// The object.
    pub value: Value,
    source: Arc<File>,
    document: usize,
    prefix: String,
    /// The override files that changed it since.
    overrides: Vec<Utf8PathBuf>,
}

/// Reads every document of a file; `shown` is its name in problems.
pub(crate) fn read(
    file: &Utf8Path,
    shown: &str,
    bytes: &[u8],
) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    let documents = yaml::parse_bytes(shown, bytes, Options::manifest())?;
    let content = String::from_utf8_lossy(bytes).into_owned();
    let source = Arc::new(File {
        shown: shown.to_owned(),
        content,
        documents,
    });
    let manifests = source
        .documents
        .iter()
        .enumerate()
        .filter(|(_, document)| !document.empty)
        .map(|(index, document)| Manifest {
            file: file.to_owned(),
            value: document.to_json(),
            source: Arc::clone(&source),
            document: index,
            prefix: String::new(),
            overrides: Vec::new(),
        })
        .filter(|manifest| !manifest.value.is_null())
        .collect();
    Ok(manifests)
}

impl Manifest {
    /// The objects of a list kind, each with its own place; the object itself otherwise.
    pub(crate) fn items(self) -> Vec<Self> {
        let Some(items) = self.value.get("items").and_then(Value::as_array) else {
            return vec![self];
        };
        if !self.kind().ends_with("List") {
            return vec![self];
        }
        let item = |(index, value): (usize, &Value)| Self {
            file: self.file.clone(),
            value: value.clone(),
            source: Arc::clone(&self.source),
            document: self.document,
            prefix: format!("{}/items/{index}", self.prefix),
            overrides: Vec::new(),
        };
        items
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_null())
            .map(item)
            .collect()
    }

    /// The text at a pointer.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.value.pointer(pointer)?.as_str()
    }

    /// The list at a pointer; empty if there is none.
    pub(crate) fn list(&self, pointer: &str) -> &[Value] {
        self.value
            .pointer(pointer)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        self.text("/kind").unwrap_or_default()
    }

    /// Its API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.text("/apiVersion")
            .and_then(|version| version.split_once('/'))
            .map_or("", |(group, _)| group)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.text("/metadata/name").unwrap_or_default()
    }

    /// `Kind/name`.
    pub fn word(&self) -> String {
        format!("{}/{}", self.kind(), self.name())
    }

    /// The line where it begins.
    pub(crate) fn line(&self) -> usize {
        let root = self.source.documents[self.document].spans();
        root.node(&self.prefix).map_or(1, |node| node.line)
    }

    /// Takes the value that an override file made of it.
    pub(crate) fn overlay(&mut self, value: Value, file: &Utf8Path) {
        self.value = value;
        if self.overrides.last().map(Utf8PathBuf::as_path) != Some(file) {
            self.overrides.push(file.to_owned());
        }
    }

    /// A problem at one of its values, or at the nearest value that exists.
    pub(crate) fn problem(
        &self,
        code: Code,
        pointer: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let pointer = format!("{}{pointer}", self.prefix);
        let document = &self.source.documents[self.document];
        let span = document.spans().nearest(&pointer).key_or_value();
        let source = Source::new(&self.source.shown, &self.source.content).hiding(hidden(document));
        let mut help = help.into();
        if !self.overrides.is_empty() {
            let files = quoted(self.overrides.iter().map(|file| file.as_str()));
            help = format!("{help}; {} is overridden by {files}", self.word());
        }
        Finding::error(code, span, message)
            .at(pointer)
            .help(help)
            .render(&source)
    }
}

/// The values of Secrets, which no snippet may show.
fn hidden(document: &Document) -> Vec<Range<usize>> {
    let value = document.to_json();
    let mut prefixes = vec![String::new()];
    let items = value
        .get("items")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    prefixes.extend((0..items).map(|index| format!("/items/{index}")));
    let spans = document.spans();
    prefixes
        .iter()
        .flat_map(|prefix| secret_ranges(&value, prefix, spans))
        .collect()
}

fn secret_ranges(value: &Value, prefix: &str, spans: Spans<'_>) -> Vec<Range<usize>> {
    let is_kind = |pointer: &str| {
        let kind = value.pointer(&format!("{prefix}{pointer}"));
        kind.and_then(Value::as_str) == Some("Secret")
    };
    let is_secret = is_kind("/kind") || is_kind("/target/kind");
    // The last two are those of an override.
    let parts = ["data", "stringData", "metadata/annotations", "patch", "set"];
    let place = |part: &str| {
        spans
            .get(&format!("{prefix}/{part}"))
            .map(|place| place.value)
    };
    if is_secret {
        parts.into_iter().filter_map(place).collect()
    } else {
        Vec::new()
    }
}
