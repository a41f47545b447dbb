//! Which bytes of manifests hold the values of Secrets, for texts that cannot be read: the text alone
//! decides, so that more is hidden than need be and never less.

use std::ops::Range;

/// The bytes of every document that speaks of a Secret, without the keys that are the same in each.
pub(super) fn hidden_in(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut first = 0;
    let mut secret = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            first = found.len();
            secret = false;
        }
        secret |= names_secret(line);
        let shown = shown(line);
        let end = line.trim_end().len().max(shown);
        found.push((secret, start + shown..start + end));
        // What stands before the kind belongs to the same object.
        if secret && !found[first].0 {
            found[first..].iter_mut().for_each(|(hide, _)| *hide = true);
        }
        start += line.len();
    }
    let hidden = found.into_iter().filter(|(hide, _)| *hide);
    hidden.map(|(_, range)| range).collect()
}

fn names_secret(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.windows(2).any(|pair| pair == ["kind", "Secret"])
}

/// How many bytes of a line are harmless: those of a line that says what the object is.
fn shown(line: &str) -> usize {
    let body = line.trim_start();
    let said = ["apiVersion:", "kind:", "---"];
    let plain = !body.contains(['{', '[', '"', '#']);
    if plain && said.iter().any(|word| body.starts_with(word)) {
        line.trim_end().len()
    } else {
        line.len() - body.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::{Options, parse_bytes};

    #[test]
    fn what_cannot_be_read_shows_no_value_of_a_secret() {
        for text in [
            "kind: Secret\nstringData:\n  A: *s3cret\n",
            "stringData:\n  A: !<s3cret> [\nkind: Secret\n",
            "kind: ConfigMap\n---\nstringData: {A: s3cret, B: *s3cret}\nkind: \"Secret\"\n",
            "{\"kind\": \"Secret\", \"stringData\": {\"A\": \"s3cret\"\n",
            "kind: List\nitems:\n- kind: Secret\n  data:\n    A: s3cret\n    B: x: y\n",
            "kind: Secret\ndata:\n  A: s3cret\0\n",
            "target: {kind: Secret, name: a}\nset:\n  /data/A: s3cret\n  b: x: y\n",
        ] {
            let found = parse_bytes("f", text.as_bytes(), Options::manifest());
            let told = format!("{:?}", found.expect_err("refused"));
            assert!(!told.contains("s3cret"), "{text}: {told}");
        }
    }

    #[test]
    fn other_objects_are_shown() {
        let text = "kind: Secret\n---\nkind: ConfigMap\ndata:\n  A: *plain\n";
        let found = parse_bytes("f", text.as_bytes(), Options::manifest());
        let told = format!("{:?}", found.expect_err("refused"));
        assert!(
            told.contains("`*plain`") && told.contains("A: *plain"),
            "{told}"
        );
    }
}
