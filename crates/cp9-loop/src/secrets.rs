//! A session's secret files, `secrets/<svc>.env`, as processes and logs need them, and
//! `former-secrets.json`, by which values that were replaced are still known in logs.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::envfile;
use cp9_model::{Category, Diagnostic, Explain};
use cp9_tools::redact::Former;
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

/// Tells the redactor every secret that the session has or has had.
pub fn learn(doors: &Doors, folder: &Utf8Path) {
    let doors = doors.quiet();
    for file in files(&doors, folder) {
        // A file that is not in the format feeds no process, so it hides nothing from a log.
        let _ = load(&doors, &file);
    }
    doors
        .redactor
        .set_former(read_former(&doors, folder).as_ref());
}

/// Keeps what is needed to know the session's present secrets in logs, unless they are among the
/// next ones; to be called before these are written. The id is the session's.
pub fn keep_former<'a>(
    doors: &Doors,
    folder: &Utf8Path,
    id: &str,
    next: impl Iterator<Item = &'a [u8]>,
) -> Result<(), FileError> {
    let values = |bytes: &[u8]| envfile::parse("", bytes).unwrap_or_default();
    let next: BTreeSet<String> = next.flat_map(values).map(|(_, value)| value).collect();
    let mut former = read_former(doors, folder).unwrap_or_else(|| Former::new(id));
    let mut news = false;
    for file in files(doors, folder) {
        for (_, value) in values(&doors.read(&file)?) {
            if !next.contains(&value) {
                news |= former.add(&Secret::new(value));
            }
        }
    }
    if !news {
        return Ok(());
    }
    let text = serde_json::to_vec(&former).expect("digests are plain data and always serialise");
    doors.write_atomic(&folder.join(FORMER), &text, 0o600)
}

/// Where secrets of the past are known from.
const FORMER: &str = "former-secrets.json";

fn read_former(doors: &Doors, folder: &Utf8Path) -> Option<Former> {
    serde_json::from_slice(&doors.read(&folder.join(FORMER)).ok()?).ok()
}

fn files(doors: &Doors, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut files = doors.list(&folder.join("secrets")).unwrap_or_default();
    files.retain(|file| file.extension() == Some("env"));
    files
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
    fn a_replaced_value_is_known_and_not_kept() {
        let dir = tempfile::tempdir().expect("tempdir");
        let folder = Utf8PathBuf::from_path_buf(dir.path().to_owned()).expect("utf-8");
        let doors = || Doors::new(Environment::default(), Clock::system(), false);
        let file = folder.join("secrets/api.env");
        doors()
            .create_private_dir(&folder.join("secrets"))
            .expect("made");
        let write = |text: &[u8]| {
            let next = std::iter::once(text);
            keep_former(&doors(), &folder, "id", next).expect("kept");
            doors().write_atomic(&file, text, 0o600).expect("written");
        };
        for text in [
            &b"A=first-1\nB=same-0\n"[..],
            b"A=second-2\nB=same-0\n",
            b"B=same-0\n",
        ] {
            write(text);
        }
        let later = doors();
        learn(&later, &folder);
        let shown = later.redactor.redact("first-1 second-2 same-0 third-3");
        assert_eq!(shown, "*** *** *** third-3");
        let kept = later.read_text(&folder.join(FORMER)).expect("kept");
        assert!(
            !kept.contains("first") && !kept.contains("second"),
            "{kept}"
        );
        assert_eq!(later.mode(&folder.join(FORMER)), Some(0o600));
    }

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
