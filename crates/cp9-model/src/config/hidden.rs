//! Which bytes of a session file hold secrets, and which words no message may quote. Works on broken
//! files too: a syntax error beside a secret must not show it, so the text alone decides, and the tree,
//! when there is one, adds what the text does not tell.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value as Json;

use super::rules::KINDS;
use crate::diagnostic::Finding;
use crate::yaml::{Entry, Node, Value, escape};

/// What stands for a word that is not shown.
const MASK: &str = "***";
/// The keys of one service's secrets.
const INPUTS: [&str; 2] = ["env_file", "values"];

/// Byte ranges that no snippet may show.
pub(crate) fn ranges(text: &str, root: Option<&Node>) -> Vec<Range<usize>> {
    let services = root.map(services).unwrap_or_default();
    let mut found = by_lines(text, &services);
    found.extend(
        root.map(|root| by_tree(root, &services))
            .unwrap_or_default(),
    );
    found
}

/// The same where only the text is known.
pub(crate) fn of_text(text: &str) -> Vec<Range<usize>> {
    ranges(text, None)
}

/// Takes the words out of a finding that may be secrets: keys where values belong, names of services
/// that are none.
pub(crate) fn scrub(finding: &mut Finding, json: &Json) {
    let Some(below) = finding.pointer.strip_prefix("/secrets/") else {
        return;
    };
    let tokens: Vec<String> = below.split('/').map(str::to_owned).collect();
    let mut pointer = String::from("/secrets");
    let mut shown = pointer.clone();
    for (level, token) in tokens.iter().enumerate() {
        pointer = format!("{pointer}/{token}");
        let word = token.replace("~1", "/").replace("~0", "~");
        let valued = json.pointer(&pointer).is_none_or(|value| !value.is_null());
        if may_show(level, &word, valued, |word| is_service(json, word)) {
            shown = format!("{shown}/{token}");
            continue;
        }
        shown = format!("{shown}/{MASK}");
        finding.message = masked(&finding.message, &word);
        finding.label = masked(&finding.label, &word);
        finding.help = finding.help.take().map(|help| masked(&help, &word));
    }
    finding.pointer = shown;
}

/// The text without a word that stands in backticks; without anything where the word is cut short.
fn masked(text: &str, word: &str) -> String {
    if word.is_empty() {
        return text.to_owned();
    }
    if word.contains('`') || text.contains('…') {
        return "what stands here is not as it should be".to_owned();
    }
    let parts: Vec<String> = text
        .split('`')
        .enumerate()
        .map(|(at, part)| match at % 2 {
            1 => part.replace(word, MASK),
            _ => part.to_owned(),
        })
        .collect();
    parts.join("`")
}

/// True for a word that is no secret at its level below `secrets`: a service of the file, a key of the
/// format, or a name in capitals that has a value.
fn may_show(level: usize, word: &str, valued: bool, is_service: impl Fn(&str) -> bool) -> bool {
    match level {
        0 => is_service(word),
        1 => INPUTS.contains(&word),
        2 => valued && is_name(word),
        _ => false,
    }
}

fn is_name(word: &str) -> bool {
    let first = |c: char| c.is_ascii_uppercase() || c == '_';
    word.starts_with(first) && word.chars().all(|c| first(c) || c.is_ascii_digit())
}

fn is_service(json: &Json, word: &str) -> bool {
    let word = escape(word);
    let has = |kind: &&str| json.pointer(&format!("/services/{kind}/{word}")).is_some();
    KINDS.iter().any(has)
}

fn services(root: &Node) -> BTreeSet<String> {
    let blocks = KINDS
        .iter()
        .filter_map(|kind| root.get("services")?.get(kind));
    blocks
        .flat_map(entries)
        .map(|entry| entry.key.clone())
        .collect()
}

fn entries(node: &Node) -> &[Entry] {
    match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    }
}

/// Below `secrets` every scalar but the path of an env file, and every key that may not be shown.
fn by_tree(root: &Node, services: &BTreeSet<String>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let Some(secrets) = root.get("secrets") {
        below(secrets, 0, services, &mut found);
    }
    found
}

fn below(node: &Node, level: usize, services: &BTreeSet<String>, found: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Mapping(entries) => {
            for entry in entries {
                let valued = entry.value.value != Value::Null;
                let known = |word: &str| services.contains(word);
                if !may_show(level, &entry.key, valued, known) {
                    found.push(entry.key_span.clone());
                }
                let is_path = level == 1
                    && entry.key == "env_file"
                    && matches!(entry.value.value, Value::String(_));
                if !is_path {
                    below(&entry.value, level + 1, services, found);
                }
            }
        }
        Value::Sequence(items) => items
            .iter()
            .for_each(|item| below(item, 3, services, found)),
        _ => found.push(node.span.clone()),
    }
}

/// Within the top-level `secrets` block everything but harmless keys, and the lines of `env_file`: more
/// than is needed, and never less.
fn by_lines(text: &str, services: &BTreeSet<String>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let body = line.trim_start_matches('\u{feff}');
        let top = body.starts_with(|c: char| !c.is_whitespace() && c != '#');
        if top {
            inside = is_secrets(body);
        }
        if inside {
            let shown = shown(line, services);
            found.push(start + shown..end.max(start + shown));
        }
        start += line.len();
    }
    found
}

/// True for the key `secrets` at the start of a line, also where the whole document stands in braces.
fn is_secrets(line: &str) -> bool {
    let bare = line.trim_start_matches(['{', '?', ' ', '"', '\'']);
    bare.starts_with("secrets") || (line.starts_with('{') && line.contains("secrets"))
}

/// How many bytes of a line in the block are harmless: indentation, a key, its colon and blanks.
fn shown(line: &str, services: &BTreeSet<String>) -> usize {
    let indent = line.len() - line.trim_start().len();
    let body = line.trim();
    if body.starts_with('#') {
        return indent;
    }
    let whole = || body.ends_with(':').then(|| indent + body.len() - 1);
    let Some(colon) = line.find(": ").or_else(whole) else {
        return indent;
    };
    let key = line[indent..colon].trim_matches(['"', '\'']);
    let value = line[colon + 1..].trim();
    let known = ["secrets", "values", "env_file"].contains(&key) || services.contains(key);
    if key == "env_file" && is_path(value) {
        line.len()
    } else if known || (is_name(key) && !value.is_empty()) {
        let after = &line[colon + 1..];
        colon + 1 + after.len() - after.trim_start_matches([' ', '\t']).len()
    } else {
        indent
    }
}

/// One plain or quoted word.
fn is_path(value: &str) -> bool {
    let bare = value.trim_matches(['"', '\'']);
    let begins = bare.starts_with(|c: char| c.is_alphanumeric() || "./~_$".contains(c));
    begins && !bare.contains(|c: char| c.is_whitespace() || "{}[],#".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::yaml::Options;

    fn masked(text: &str) -> String {
        let mut shown = text.to_owned();
        let document = crate::yaml::parse_bytes("f", text.as_bytes(), Options::config());
        let root = document
            .ok()
            .and_then(|mut all| all.pop())
            .map(|document| document.root);
        let source = Source::new("f", text).hiding(ranges(text, root.as_ref()));
        for range in source.secret().iter().rev() {
            shown.replace_range(range.clone(), "***");
        }
        shown
    }

    #[test]
    fn keys_stay_and_values_go() {
        let text = "name: abc\nsecrets:\n  api:\n    env_file: .env\n    values:\n      TOKEN: s3cret # x\n      B: \"t: wo\"\n      b4d: x\ntilt: {}\n";
        let shown = masked(text);
        assert!(
            !shown.contains("s3cret") && !shown.contains("wo\""),
            "{shown}"
        );
        assert!(
            shown.contains("TOKEN: ***")
                && shown.contains("env_file: .env")
                && shown.contains("tilt: {}")
        );
    }

    #[test]
    fn no_spelling_shows_a_secret() {
        for text in [
            "secrets: {api: {values: {A: s3cret}}}\n",
            "\"secrets\":\n  api:\n    values: {A: s3cret}\n",
            "secrets:\n  api:\n    values:\n      A: |\n        s3cret\n        : s3cret\n",
            "secrets:\n  api:\n    values:\n      A:\n        s3cret\n",
            "secrets:\n  api:\n    values:\n      A: 'x\n\n        s3cret'\n",
            "x: &a s3cret\nsecrets: {api: {values: {A: *a}}}\n",
            "secrets:\n  api:\n    values:\n     \t A: s3cret\n  broken: [\n",
            "{name: abc, secrets: {api: {values: {A: s3cret}}}}\n",
            "\u{feff}secrets:\n  api: {values: {A: s3cret\n",
        ] {
            assert!(!masked(text).contains("s3cret"), "{}", masked(text));
        }
    }

    const HEAD: &str = "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: abc\nhost: {mode: process}\ntarget: {cloud: local}\nservices:\n  stub:\n    api: {kind: permissive}\n";

    fn told(secrets: &str) -> String {
        let text = format!("{HEAD}{secrets}");
        let loaded = crate::config::load("/w/cp9.yaml".into(), text.as_bytes());
        let found = loaded.expect_err("refused");
        assert!(found.iter().all(|found| found.line > 8), "{found:?}");
        serde_json::to_string(&found).expect("plain data")
    }

    #[test]
    fn no_message_quotes_a_secret_wherever_it_stands() {
        for values in [
            "A: *S",
            "A: !S",
            "A: !!S x",
            "A: !<S> y",
            "A: !S!x y",
            "A: &S [",
            "*S : x",
            "<<: *S",
            "S: 1",
            "S-a: 1",
            "S:",
            "{S}",
            "{S, S}",
            "\"S x\": y",
            "S: a\n      S: b",
            "\"S\\0\": x",
            "\"S`S\": 1",
            "A: {S: {S: 1}}",
            "A:\n        S: [a]",
            "A: \"S\\0\"",
            "A: S\0",
            "? [S]\n      : x",
        ] {
            let long = format!("s3cret{}", "t".repeat(300));
            for secret in ["s3cret", &long] {
                let values = values.replace('S', secret);
                let told = told(&format!("secrets:\n  api:\n    values:\n      {values}\n"));
                assert!(!told.contains("s3cret"), "{values}: {told}");
            }
        }
        for secrets in [
            "s3cret",
            "[s3cret]",
            "\n  s3cret: {values: {A: b}}",
            "\n  api: {s3cret: x}",
            "\n  api:\n    env_file: {s3cret: x}",
            "\n  api:\n    env_file: [s3cret]\n    values: {A: 1}",
            "{s3cret: {}, s3cret: {}}",
        ] {
            let told = told(&format!("secrets: {secrets}\n"));
            assert!(!told.contains("s3cret"), "{secrets}: {told}");
        }
    }

    #[test]
    fn a_flag_is_not_told_by_its_value_and_names_are_told() {
        let told = told("secrets:\n  api:\n    values:\n      TOKEN: true\n");
        let expected = "`secrets.api.values.TOKEN` must be text, not a yes or no";
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("true"), "{told}");
    }
}
