//! From the bytes of a session file to the resolved session, or to everything that is wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8Path;
use serde_json::Value;

use super::adapters::{self, Support};
use super::check::Check;
use super::raw::Session;
use super::resolved::ResolvedConfig;
use super::shape::Shape;
use super::{hidden, paths, resolve, rules};
use crate::diagnostic::{Code, Diagnostic, Finding, Severity, Source, report_all};
use crate::name::ServiceName;
use crate::yaml::{self, Document, Options};

const API_VERSION: &str = "cp9.tidbcloud.com/v1alpha2";
const KIND: &str = "Session";

/// A session file that is right.
#[derive(Clone, PartialEq)]
pub struct Loaded {
    /// The session.
    pub resolved: ResolvedConfig,
    /// The inline secret values by service; nowhere else are they kept.
    pub secret_values: BTreeMap<ServiceName, BTreeMap<String, String>>,
    /// What is worth knowing.
    pub warnings: Vec<Diagnostic>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: BTreeMap<_, Vec<_>> = self
            .secret_values
            .iter()
            .map(|(svc, values)| (svc, values.keys().collect()))
            .collect();
        let mut debug = f.debug_struct("Loaded");
        debug
            .field("resolved", &self.resolved)
            .field("secret_values", &names)
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// Reads a session file for this build; `file` is its absolute path.
///
/// # Errors
/// Every problem of passes 1 and 2, in the order of the file.
pub fn load(file: &Utf8Path, bytes: &[u8]) -> Result<Loaded, Vec<Diagnostic>> {
    load_for(file, bytes, Support::ThisBuild)
}

/// Reads a session file and says which adapters must be there.
///
/// # Errors
/// Every problem of passes 1 and 2, in the order of the file.
pub fn load_for(
    file: &Utf8Path,
    bytes: &[u8],
    support: Support,
) -> Result<Loaded, Vec<Diagnostic>> {
    let text = yaml::decode(file.as_str(), bytes, &Options::config())?;
    let source = Source::new(file.as_str(), text).hiding(hidden::ranges(text, None));
    let document = single(&source).map_err(|found| told(&source, found, 0, &Value::Null))?;
    let source =
        Source::new(file.as_str(), text).hiding(hidden::ranges(text, Some(&document.root)));
    let json = document.to_json();
    let mut check = Check::new(&document, &json);
    let session = examine(&mut check, file, support);
    let refused = check
        .findings
        .iter()
        .any(|found| found.severity == Severity::Error);
    let Some(session) = session.filter(|_| !refused) else {
        return Err(told(&source, check.findings, check.more, &json));
    };
    let warnings = told(&source, std::mem::take(&mut check.findings), 0, &json);
    resolve::resolve(file, &session, &json, warnings)
        .map_err(|finding| told(&source, vec![*finding], 0, &json))
}

/// The findings as people see them, without a word that may be a secret.
fn told(source: &Source<'_>, findings: Vec<Finding>, more: usize, json: &Value) -> Vec<Diagnostic> {
    let mut findings = findings;
    for finding in &mut findings {
        hidden::scrub(finding, json);
    }
    report_all(source, findings, more)
}

/// The one document of the file.
fn single(source: &Source<'_>) -> Result<Document, Vec<Finding>> {
    let mut documents = yaml::parse_source(source, Options::config())?;
    let told = "a session file needs at least `apiVersion`, `kind` and `name`";
    let second = documents.iter().skip(1).find(|document| !document.empty);
    if let Some(second) = second {
        let message = "a second document; a session file holds one";
        let start = second.root.span.start;
        return Err(vec![
            Finding::error(Code::DOCUMENTS, start..start, message)
                .help("put each session in a file of its own"),
        ]);
    }
    match documents.iter().position(|document| !document.empty) {
        Some(at) => Ok(documents.swap_remove(at)),
        None => Err(vec![
            Finding::error(Code::DOCUMENTS, 0..0, "the file is empty").help(told),
        ]),
    }
}

/// Passes 1 and 2; the session if both could be read.
fn examine(check: &mut Check<'_>, file: &Utf8Path, support: Support) -> Option<Session> {
    if file.parent().is_none_or(|folder| !folder.is_absolute()) {
        let message = format!("the session file's path `{file}` is not absolute");
        check
            .findings
            .push(Finding::error(Code::PATH, 0..0, message).help("name the file by its full path"));
    }
    if let Some(finding) = version(check) {
        check.findings.push(finding);
        return None;
    }
    let shape = Shape::compile();
    let sound = shape.check(check)?;
    let session = typed(&sound, check)?;
    rules::check(check, &session);
    paths::check(check);
    adapters::missing(check, support);
    if check
        .findings
        .iter()
        .all(|found| found.severity == Severity::Warning)
    {
        shape.leftovers(check);
    }
    Some(session)
}

/// Another version makes every other word about the file noise.
fn version(check: &Check<'_>) -> Option<Finding> {
    let is_other = |key: &str, word: &str| {
        check
            .json
            .get(key)
            .and_then(Value::as_str)
            .filter(|got| *got != word)
    };
    let found = if let Some(got) = is_other("apiVersion", API_VERSION) {
        check.value(
            Code::VERSION,
            "/apiVersion",
            format!("version `{got}` is not read by this cp9"),
        )
    } else if let Some(got) = is_other("kind", KIND) {
        check.value(
            Code::VERSION,
            "/kind",
            format!("a document of kind `{got}` is no session"),
        )
    } else {
        return None;
    };
    Some(found.help(format!(
        "write `apiVersion: {API_VERSION}` and `kind: {KIND}`"
    )))
}

fn typed(sound: &Value, check: &mut Check<'_>) -> Option<Session> {
    match serde_path_to_error::deserialize(sound) {
        Ok(session) => Some(session),
        Err(error) => {
            let pointer = pointer_of(error.path());
            // The reader's own words quote the value.
            let message = if pointer.starts_with("/secrets/") {
                "the value cannot be read".to_owned()
            } else {
                format!("the value cannot be read: {}", error.inner())
            };
            let finding = check.value(Code::SCHEMA, &pointer, message);
            check.findings.push(finding);
            None
        }
    }
}

fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } => pointer = super::check::child(&pointer, key),
            Segment::Seq { index } => pointer = format!("{pointer}/{index}"),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
