//! Which bytes of a session file hold secrets. Works on broken files too: a syntax error beside a
//! secret must not show it, so the text alone decides, and the tree, when there is one, adds to it.

use std::ops::Range;

use crate::yaml::{Node, Value};

/// Byte ranges that no snippet may show.
pub(crate) fn ranges(text: &str, root: Option<&Node>) -> Vec<Range<usize>> {
    let mut found = by_lines(text);
    found.extend(root.map(by_tree).unwrap_or_default());
    found
}

/// Every scalar below `secrets.*.values`.
fn by_tree(root: &Node) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(Value::Mapping(services)) = root.get("secrets").map(|node| &node.value) else {
        return found;
    };
    for service in services {
        if let Some(values) = service.value.get("values") {
            scalars(values, &mut found);
        }
    }
    found
}

fn scalars(node: &Node, found: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .for_each(|entry| scalars(&entry.value, found)),
        Value::Sequence(items) => items.iter().for_each(|item| scalars(item, found)),
        _ => found.push(node.span.clone()),
    }
}

/// Within the top-level `secrets` block everything but keys that stand alone, and the lines of
/// `env_file`: more than is needed, and never less.
fn by_lines(text: &str) -> Vec<Range<usize>> {
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
            let shown = shown(line);
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
fn shown(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let body = line.trim();
    if body.starts_with('#') {
        return indent;
    }
    let Some(colon) = line.find(": ").or_else(|| {
        line.trim_end()
            .ends_with(':')
            .then(|| line.trim_end().len() - 1)
    }) else {
        return indent;
    };
    let key = line[indent..colon].trim_matches(['"', '\'']);
    let plain = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if plain && key == "env_file" {
        line.len()
    } else if plain {
        let after = &line[colon + 1..];
        colon + 1 + after.len() - after.trim_start_matches([' ', '\t']).len()
    } else {
        indent
    }
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
        let text = "name: abc\nsecrets:\n  api:\n    env_file: .env\n    values:\n      TOKEN: s3cret # x\n      B: \"t: wo\"\ntilt: {}\n";
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
}
