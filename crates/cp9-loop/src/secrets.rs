//! A session's secret files, `secrets/<svc>.env`, as processes and logs need them.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::envfile;
use cp9_model::{Category, Diagnostic, Explain};
use cp9_tools::{Doors, FileError, Secret};
use thiserror::Error;

/// Why a secret cannot be had.
#[derive(Debug, Error)]
pub(crate) enum SecretsError {
    /// The file cannot be read.
    #[error("cannot read secrets `{path}`")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: FileError,
    },
    /// A line is not in the format.
    #[error("cannot read secrets `{path}` from line {} column {} on", .source.0.line, .source.0.column)]
    Format {
        /// The file.
        path: Utf8PathBuf,
        /// The first problem.
        source: NoSecret,
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

/// What is wrong with a line; it never shows a value.
#[derive(Debug, Error)]
#[error("{}", .0.message)]
pub(crate) struct NoSecret(Box<Diagnostic>);

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
        match self {
            Self::Read { source, .. } => source.remedy(),
            Self::Format { source, .. } => source.0.help.clone(),
            Self::Missing { path, key } => Some(format!("add a line `{key}=…` to `{path}`")),
        }
    }
}

/// Reads a secret file and tells the redactor its values.
pub(crate) fn load(
    doors: &Doors,
    path: &Utf8Path,
) -> Result<BTreeMap<String, Secret>, SecretsError> {
    let bytes = doors.read(path).map_err(|source| SecretsError::Read {
        path: path.to_owned(),
        source,
    })?;
    let pairs = envfile::parse(path.as_str(), &bytes).map_err(|found| format_error(path, found))?;
    let mut secrets = BTreeMap::new();
    for (key, value) in pairs {
        let secret = Secret::new(value);
        doors.redactor.add(&secret);
        secrets.insert(key, secret);
    }
    Ok(secrets)
}

fn format_error(path: &Utf8Path, found: Vec<Diagnostic>) -> SecretsError {
    let path = path.to_owned();
    match found.into_iter().next() {
        Some(first) => SecretsError::Format {
            path,
            source: NoSecret(Box::new(first)),
        },
        None => SecretsError::Missing {
            path,
            key: "KEY".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use cp9_tools::{Clock, Environment};

    use super::*;

    #[test]
    fn values_are_known_to_the_redactor_and_problems_name_the_place() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = Utf8PathBuf::from_path_buf(dir.path().join("api.env")).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        doors
            .write_atomic(&path, b"TOKEN=hunter22\n", 0o600)
            .expect("write");
        let secrets = load(&doors, &path).expect("in format");
        assert_eq!(secrets["TOKEN"].expose(), "hunter22");
        assert_eq!(doors.redactor.redact("a hunter22 b"), "a *** b");

        doors
            .write_atomic(&path, b"A=1\nB =2hunter33\n", 0o600)
            .expect("write");
        let error = load(&doors, &path).expect_err("blank before `=`");
        let cause = std::error::Error::source(&error).expect("a cause");
        let (error, cause) = (error.to_string(), cause.to_string());
        assert!(error.contains("line 2 column"), "{error}");
        assert!(!error.contains(&cause), "the printer shows the chain");
        assert!(!format!("{error}{cause}").contains("hunter33"), "{cause}");
    }
}
