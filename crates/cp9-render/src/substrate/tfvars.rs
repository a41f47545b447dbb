//! The values of the root module: the persona's var file, copied as it is, and beside it what this session
//! gives. Only variables that the root declares are given.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::Diagnostic;
use cp9_model::config::resolved::{ResolvedConfig, Terraform};
use cp9_model::substrate::SessionTags;
use serde_json::{Map, Value};

use super::hcl;
use crate::nearest::nearest;
use crate::problem::{SUBSTRATE, bare, session};
use crate::tree::FileTree;

/// Variables of this beginning are cp9's.
const OURS: &str = "cp9_";

/// What the session gives to its substrate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// Owner, session and time to live.
    pub tags: SessionTags,
    /// The proven account.
    pub account: String,
    /// The proven region.
    pub region: String,
}

/// A working copy, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingCopy {
    /// The files, relative to the copy.
    pub tree: FileTree,
    /// The root module inside it.
    pub root: Utf8PathBuf,
    /// The persona's var file: name and content.
    pub var_file: Option<(String, Vec<u8>)>,
    /// The session's values as a `.tfvars.json`.
    pub values: Vec<u8>,
}

/// The session's values for the declared variables, as JSON, in which no text is a template.
pub(super) fn values(values: &Values, declared: &BTreeSet<String>) -> Vec<u8> {
    let tags = &values.tags;
    let text = |value: &str| Value::String(value.to_owned());
    let map: Map<String, Value> = tags
        .map()
        .into_iter()
        .map(|(key, value)| (key.to_owned(), text(value)))
        .collect();
    let all = [
        ("cp9_account", text(&values.account)),
        ("cp9_owner", text(tags.owner.as_str())),
        ("cp9_region", text(&values.region)),
        ("cp9_session", text(tags.session.as_str())),
        ("cp9_tags", Value::Object(map)),
        ("cp9_ttl", text(&tags.ttl)),
    ];
    let given: Map<String, Value> = all
        .into_iter()
        .filter(|(name, _)| declared.contains(*name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let mut bytes = serde_json::to_vec_pretty(&given).expect("plain data always serialises");
    bytes.push(b'\n');
    bytes
}

/// The persona's var file, if the session names one.
pub(super) fn var_file(
    config: &ResolvedConfig,
    terraform: &Terraform,
    files: &FileTree,
    declared: &BTreeSet<String>,
) -> Result<Option<(String, Vec<u8>)>, Vec<Diagnostic>> {
    let Some(path) = terraform.var_file.as_deref().map(Utf8Path::new) else {
        return Ok(None);
    };
    let absent = || {
        let message = format!("`{path}` is not there");
        let help = format!("name a file below `{}`", terraform.repo);
        let pointer = "/terraform/var_file";
        vec![session(config, SUBSTRATE, pointer, message, help)]
    };
    let bytes = files.get(path).ok_or_else(absent)?;
    let name = path.file_name().ok_or_else(absent)?;
    let file = Utf8Path::new(&terraform.repo).join(path);
    let text = String::from_utf8_lossy(bytes);
    let problems: Vec<_> = assigned(path, &text)
        .into_iter()
        .filter_map(|variable| judge(&variable, declared))
        .map(|(message, help)| bare(SUBSTRATE, file.as_str(), "", message, help))
        .collect();
    if problems.is_empty() {
        Ok(Some((name.to_owned(), bytes.clone())))
    } else {
        Err(problems)
    }
}

/// The variables that a var file sets.
fn assigned(path: &Utf8Path, text: &str) -> Vec<String> {
    if path.extension() == Some("json") {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let map = value.as_object();
        return map
            .into_iter()
            .flat_map(|map| map.keys().cloned())
            .collect();
    }
    let scan = hcl::scan(text);
    let top = scan.attributes.into_iter();
    top.filter(|(around, ..)| around.is_empty())
        .map(|(_, name, _)| name)
        .collect()
}

fn judge(variable: &str, declared: &BTreeSet<String>) -> Option<(String, String)> {
    if variable.starts_with(OURS) {
        return Some((
            format!("the var file sets `{variable}`, which cp9 gives"),
            "remove the line; it is given for every session".into(),
        ));
    }
    let unknown = !declared.contains(variable);
    unknown.then(|| {
        let near = nearest(variable, declared.iter().map(String::as_str));
        let help = match near {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                format!("declare `variable \"{variable}\"` in the root module, or remove the line")
            }
        };
        let message =
            format!("the var file sets `{variable}`, which the root module does not declare");
        (message, help)
    })
}
