//! The literal format of a service's secret file, `secrets/<svc>.env`: `KEY=value` lines without
//! escapes, expansion or continuation. What looks like one of these is an error, never a guess.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain};
use cp9_tools::{Doors, FileError, Secret};
use thiserror::Error;

/// Why a secret file cannot be used.
#[derive(Debug, Error)]
pub enum SecretsError {
    /// It cannot be read.
    #[error("cannot read secrets `{path}`")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: Box<FileError>,
    },
    /// A line is not in the format.
    #[error("secrets `{path}` line {line} column {column}: {problem}")]
    Format {
        /// The file.
        path: Utf8PathBuf,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong; never the value.
        problem: Problem,
    },
    /// A key that the plan refers to is not there.
    #[error("secrets `{path}` hold no key `{key}`")]
    Missing {
        /// The file.
        path: Utf8PathBuf,
        /// The key.
        key: String,
    },
}

impl Explain for SecretsError {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "secrets-unreadable",
            Self::Format { .. } => "secrets-format",
            Self::Missing { .. } => "secrets-key-missing",
        }
    }
    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Read { path, .. } => {
                format!("create `{path}` with mode 0600 and one `KEY=value` line per secret")
            }
            Self::Format { path, .. } => {
                format!("mend that line of `{path}`; quote values that hold ` #`")
            }
            Self::Missing { path, key } => format!("add a line `{key}=…` to `{path}`"),
        })
    }
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Problem {
    /// There is no `=`.
    #[error("`=` expected after the key")]
    NoEquals,
    /// The key is no name.
    #[error("a key consists of letters, digits, `_`, `.` and `-`, and does not start with a digit")]
    Key,
    /// Blanks stand around `=`.
    #[error("no blanks are allowed around `=`")]
    Blanks,
    /// ` #` stands in an unquoted value.
    #[error("` #` in an unquoted value is ambiguous; quote the value")]
    Comment,
    /// A quote is never closed on its line.
    #[error("the closing quote is missing on this line")]
    Unclosed,
    /// Text follows the closing quote.
    #[error("text after the closing quote")]
    AfterQuote,
    /// The key was set before.
    #[error("the key was set before")]
    Duplicate,
}

/// Reads a secret file and tells the redactor its values.
pub fn load(doors: &Doors, path: &Utf8Path) -> Result<BTreeMap<String, Secret>, SecretsError> {
    let text = doors.read_text(path).map_err(|source| SecretsError::Read {
        path: path.into(),
        source: Box::new(source),
    })?;
    let pairs = parse(&text).map_err(|(line, column, problem)| SecretsError::Format {
        path: path.into(),
        line,
        column,
        problem,
    })?;
    let mut secrets = BTreeMap::new();
    for (key, value) in pairs {
        let secret = Secret::new(value);
        doors.redactor.add(&secret);
        secrets.insert(key, secret);
    }
    Ok(secrets)
}

type Place = (usize, usize, Problem);

fn parse(text: &str) -> Result<BTreeMap<String, String>, Place> {
    let mut pairs = BTreeMap::new();
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, raw) in body.split('\n').enumerate() {
        let line = raw.strip_suffix('\r').unwrap_or(raw);
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let at = |(column, problem): (usize, Problem)| (index + 1, column, problem);
        let (key, value) = entry(line).map_err(at)?;
        if pairs.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(at((1, Problem::Duplicate)));
        }
    }
    Ok(pairs)
}

fn entry(line: &str) -> Result<(&str, &str), (usize, Problem)> {
    let (key, value) = line
        .split_once('=')
        .ok_or((line.chars().count() + 1, Problem::NoEquals))?;
    let equals = key.chars().count() + 1;
    if key.trim() != key {
        return Err((
            if key.starts_with(char::is_whitespace) {
                1
            } else {
                equals - 1
            },
            Problem::Blanks,
        ));
    }
    let named = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if key.is_empty() || key.starts_with(|c: char| c.is_ascii_digit()) || !key.chars().all(named) {
        return Err((1, Problem::Key));
    }
    let value = unquote(value).map_err(|(column, problem)| (equals + column, problem))?;
    Ok((key, value))
}

fn unquote(value: &str) -> Result<&str, (usize, Problem)> {
    if value.starts_with(char::is_whitespace) {
        return Err((1, Problem::Blanks));
    }
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        if let Some(at) = value.find(" #") {
            return Err((value[..at].chars().count() + 1, Problem::Comment));
        }
        return Ok(value.trim_end());
    };
    let inner = &value[1..];
    let end = inner
        .find(quote)
        .ok_or((value.chars().count() + 1, Problem::Unclosed))?;
    if !inner[end + 1..].trim().is_empty() {
        return Err((inner[..end].chars().count() + 3, Problem::AfterQuote));
    }
    Ok(&inner[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).expect("in format").into_iter().collect()
    }

    #[test]
    fn values_are_literal() {
        let text = "\u{feff}# a comment\nA=plain\r\nB=\"two words # no comment\"\nC='$A \\n'\nD=\nE=a=b#c\n\n  # more\n";
        let expected = [
            ("A", "plain"),
            ("B", "two words # no comment"),
            ("C", "$A \\n"),
            ("D", ""),
            ("E", "a=b#c"),
        ];
        assert_eq!(
            pairs(text),
            expected.map(|(k, v)| (k.to_owned(), v.to_owned()))
        );
        assert_eq!(pairs(""), []);
    }

    #[test]
    fn what_looks_like_more_is_refused_with_its_place() {
        for (text, place) in [
            ("A=1\nB", (2, 2, Problem::NoEquals)),
            ("A =1", (1, 2, Problem::Blanks)),
            (" A=1", (1, 1, Problem::Blanks)),
            ("A= 1", (1, 3, Problem::Blanks)),
            ("A=x #c", (1, 4, Problem::Comment)),
            ("A=\"x", (1, 5, Problem::Unclosed)),
            ("A=\"x\" y", (1, 6, Problem::AfterQuote)),
            ("A=1\n#\nA=2", (3, 1, Problem::Duplicate)),
            ("1A=1", (1, 1, Problem::Key)),
            ("=1", (1, 1, Problem::Key)),
            ("export A=1", (1, 1, Problem::Key)),
        ] {
            assert_eq!(parse(text), Err(place), "{text}");
        }
    }
}
