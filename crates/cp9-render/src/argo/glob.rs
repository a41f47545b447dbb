//! The globs of `directory.include` and `directory.exclude`: gobwas syntax without separators, so
//! `*` crosses `/`.

use std::iter::Peekable;
use std::str::Chars;

use regex::Regex;

/// A compiled glob.
#[derive(Debug, Clone)]
pub(crate) struct Glob(Regex);

impl Glob {
    /// Compiles a glob; the error says what is wrong with it.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let body = translate(pattern)?;
        let regex = Regex::new(&format!("(?s)^(?:{body})$"))
            .map_err(|_| "it does not compile".to_owned())?;
        Ok(Self(regex))
    }

    /// True when the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            '\\' => push_literal(&mut out, chars.next().ok_or("it ends in a backslash")?),
            '{' => {
                depth += 1;
                out.push_str("(?:");
            }
            ',' if depth > 0 => out.push('|'),
            '}' if depth > 0 => {
                depth -= 1;
                out.push(')');
            }
            '[' => class(&mut out, &mut chars)?,
            other => push_literal(&mut out, other),
        }
    }
    if depth > 0 {
        Err("a `{` is not closed".to_owned())
    } else {
        Ok(out)
    }
}

fn class(out: &mut String, chars: &mut Peekable<Chars<'_>>) -> Result<(), String> {
    out.push('[');
    if chars.next_if(|c| matches!(c, '!' | '^')).is_some() {
        out.push('^');
    }
    let mut empty = true;
    for c in chars.by_ref() {
        match c {
            ']' if !empty => {
                out.push(']');
                return Ok(());
            }
            '-' if !empty => out.push('-'),
            other => push_literal(out, other),
        }
        empty = false;
    }
    Err("a `[` is not closed".to_owned())
}

fn push_literal(out: &mut String, c: char) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).expect(pattern).matches(text)
    }

    #[test]
    fn stars_cross_slashes() {
        assert!(matches("*.yaml", "a/b.yaml"));
        assert!(matches("**/*.yaml", "a/b/c.yaml"));
        assert!(!matches("*.yaml", "a.yaml.bak"));
        assert!(!matches("a.yaml", "axyaml"));
    }

    #[test]
    fn alternatives_and_classes() {
        assert!(matches("{config,env-{a,b}}/*", "env-b/x.yaml"));
        assert!(!matches("{config,env-{a,b}}/*", "env-c/x.yaml"));
        assert!(matches("[a-c]?.json", "bz.json"));
        assert!(matches("[!a]x", "bx") && !matches("[!a]x", "ax"));
        assert!(matches("\\*", "*") && !matches("\\*", "x"));
        assert!(matches("a,b", "a,b"));
    }

    #[test]
    fn broken_globs_are_refused() {
        for pattern in ["{a", "[a", "a\\", "[z-a]"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }
}
