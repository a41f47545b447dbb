//! `$(VAR)` in `env`, `command` and `args`, as the kubelet expands it: `$$` is a literal dollar,
//! an unknown or unclosed reference stays as written.

/// Replaces each reference by what `value` gives for its name.
pub(crate) fn expand(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = reference(rest) {
            let value = value(name).unwrap_or_else(|| format!("$({name})"));
            out.push_str(&value);
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

fn reference(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('(')?.split_once(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<String> {
        match name {
            "A" => Some("1".to_owned()),
            "B" => Some("$(A)".to_owned()),
            "E" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn references_expand_as_in_the_kubelet() {
        for (text, expected) in [
            ("$(A)-$(A)", "1-1"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$1"),
            ("$(B)", "$(A)"),
            ("$(E)x", "x"),
            ("$(NO)", "$(NO)"),
            ("$(A", "$(A"),
            ("$A", "$A"),
            ("$", "$"),
            ("ü$(A)ü", "ü1ü"),
            ("${A}", "${A}"),
        ] {
            assert_eq!(expand(text, known), expected, "{text}");
        }
    }
}
