//! Paths of the session file: which values are paths, what may stand in them, and how they
//! become absolute. One table decides for checks and for resolving.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::check::{Check, child, dotted};
use crate::diagnostic::Code;

/// What a path value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file or folder, relative to the session file.
    Outside,
    /// The same, or a git URL.
    Repo,
    /// A file or folder inside a repository.
    Inside,
}

/// Every path of the format; `*` stands for any key or item.
const PATHS: &[(&str, Kind)] = &[
    ("/host/kubeconfig", Kind::Outside),
    ("/terraform/repo", Kind::Repo),
    ("/terraform/path", Kind::Inside),
    ("/terraform/var_file", Kind::Inside),
    ("/appDelivery/repo", Kind::Repo),
    ("/tilt/include", Kind::Outside),
    ("/services/source/*/repo", Kind::Repo),
    ("/services/source/*/build/main", Kind::Inside),
    ("/services/source/*/app/registry", Kind::Inside),
    ("/services/source/*/overrides/*", Kind::Outside),
    ("/services/source/*/run/workdir", Kind::Outside),
    ("/services/live/*/app/registry", Kind::Inside),
    ("/services/live/*/overrides/*", Kind::Outside),
    ("/services/live/*/run/workdir", Kind::Outside),
    ("/services/stub/*/swagger", Kind::Outside),
    ("/services/stub/*/proto", Kind::Outside),
    ("/services/stub/*/output", Kind::Outside),
    ("/secrets/*/env_file", Kind::Outside),
    ("/contracts/file", Kind::Outside),
    ("/credentials/gcp/service_account_key", Kind::Outside),
    ("/registries/*/docker_config", Kind::Outside),
];

/// True for what git clones: a URL with a scheme, or `user@host:path`.
pub(crate) fn is_git_url(text: &str) -> bool {
    if text.contains("://") {
        return true;
    }
    let scp = text.split_once(':').map(|(host, _)| host);
    scp.is_some_and(|host| host.contains('@') && !host.contains('/'))
}

/// Checks every path.
pub(crate) fn check(check: &mut Check<'_>) {
    for (pattern, kind) in PATHS {
        for pointer in matching(check.json, pattern) {
            let Some(text) = check.json.pointer(&pointer).and_then(Value::as_str) else {
                continue;
            };
            if let Some((problem, help)) = problem(text, *kind) {
                let message = format!("`{}` {problem}", dotted(&pointer));
                let found = check.value(Code::PATH, &pointer, message).help(help);
                check.add(found);
            }
        }
    }
}

fn problem(text: &str, kind: Kind) -> Option<(String, &'static str)> {
    if text.trim().is_empty() {
        return Some(("is empty".into(), "give it a path or remove the key"));
    }
    if text.chars().any(char::is_control) {
        return Some((
            "holds a control character".into(),
            "write the path in one plain line",
        ));
    }
    if let Some(variable) = variables(text).find(|variable| *variable != "${name}") {
        return Some((
            format!("holds `{variable}`"),
            "only `${name}` is replaced in paths",
        ));
    }
    if text == "~" || text.starts_with("~/") {
        return Some((
            "begins with `~`, which is not replaced".into(),
            "write the path in full, or relative to this file",
        ));
    }
    let path = Utf8Path::new(text);
    if kind == Kind::Repo && is_git_url(text) {
        return None;
    }
    if kind == Kind::Inside && path.is_absolute() {
        return Some(("is absolute".into(), "write it relative to the repository"));
    }
    if kind == Kind::Inside
        && path
            .components()
            .any(|part| part == Utf8Component::ParentDir)
    {
        return Some((
            "leads out of the repository".into(),
            "write it without `..`",
        ));
    }
    None
}

/// The `${…}` of a text.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("${").map(|(at, _)| {
        let end = text[at..].find('}').map_or(text.len(), |end| at + end + 1);
        &text[at..end]
    })
}

/// Replaces `${name}` and makes every path absolute or clean.
pub(crate) fn resolve(json: &mut Value, folder: &Utf8Path, name: &str) {
    for (pattern, kind) in PATHS {
        for pointer in matching(json, pattern) {
            let Some(Value::String(text)) = json.pointer_mut(&pointer) else {
                continue;
            };
            let plain = text.replace("${name}", name);
            *text = match kind {
                Kind::Repo if is_git_url(&plain) => plain,
                Kind::Inside => clean(Utf8Path::new(&plain)).into_string(),
                Kind::Repo | Kind::Outside => clean(&folder.join(plain)).into_string(),
            };
        }
    }
}

/// A path without `.`, and without `..` where something is above it.
fn clean(path: &Utf8Path) -> Utf8PathBuf {
    let mut clean = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if clean.parent().is_some() && !clean.ends_with("..") => {
                clean.pop();
            }
            Utf8Component::ParentDir if clean.is_absolute() => {}
            _ => clean.push(part),
        }
    }
    if clean.as_str().is_empty() {
        ".".into()
    } else {
        clean
    }
}

/// The pointers of a document that a pattern names.
pub(crate) fn matching(json: &Value, pattern: &str) -> Vec<String> {
    let mut found = vec![(String::new(), json)];
    for token in pattern.split('/').skip(1) {
        let step = |(pointer, value): (String, _)| step(&pointer, value, token);
        found = found.into_iter().flat_map(step).collect();
    }
    found.into_iter().map(|(pointer, _)| pointer).collect()
}

fn step<'v>(pointer: &str, value: &'v Value, token: &str) -> Vec<(String, &'v Value)> {
    match value {
        Value::Object(keys) if token == "*" => keys
            .iter()
            .map(|(key, value)| (child(pointer, key), value))
            .collect(),
        Value::Object(keys) => keys
            .get(token)
            .map(|value| (child(pointer, token), value))
            .into_iter()
            .collect(),
        Value::Array(items) if token == "*" => items
            .iter()
            .enumerate()
            .map(|(at, value)| (format!("{pointer}/{at}"), value))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_urls_are_told_from_paths() {
        for url in [
            "https://host/x.git",
            "git@host:org/x",
            "ssh://git@host/x",
            "file:///x",
        ] {
            assert!(is_git_url(url), "{url}");
        }
        for path in ["./x", "../x", "/abs", "a@b/c", "x/y@z:1", "c:x"] {
            assert!(!is_git_url(path), "{path}");
        }
    }

    #[test]
    fn paths_are_cleaned_without_the_disk() {
        for (raw, want) in [
            ("/a/./b/../c", "/a/c"),
            ("/../x", "/x"),
            ("a/..", "."),
            ("../a", "../a"),
            ("./a//b", "a/b"),
        ] {
            assert_eq!(clean(Utf8Path::new(raw)), want, "{raw}");
        }
    }

    #[test]
    fn variables_are_found_even_unfinished() {
        assert_eq!(
            variables("a${x}b${name}${").collect::<Vec<_>>(),
            ["${x}", "${name}", "${"]
        );
    }
}
