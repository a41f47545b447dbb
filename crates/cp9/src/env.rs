//! The only place that reads this process's surroundings: arguments, environment, current
//! directory and executable. Everything else is given them as values.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use camino::Utf8PathBuf;
use cp9_model::{Category, Explain};
use cp9_tools::Environment;
use thiserror::Error;

/// What cp9 was started with.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The arguments, without the program's own name.
    pub(crate) args: Vec<String>,
    /// The variables.
    pub(crate) environment: Environment,
    /// Where cp9 was called from.
    pub(crate) cwd: Utf8PathBuf,
    /// This executable.
    pub(crate) exe: Utf8PathBuf,
}

/// Why the surroundings cannot be used.
#[derive(Debug, Error)]
pub(crate) enum SurroundingsError {
    /// The current directory was removed or may not be read.
    #[error("cannot read the current directory")]
    Cwd(#[source] std::io::Error),
    /// The system does not say which file runs.
    #[error("cannot find the executable of this process")]
    Exe(#[source] std::io::Error),
    /// A path that JSON cannot carry.
    #[error("path `{}` is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
}

impl Explain for SurroundingsError {
    fn category(&self) -> Category {
        Category::Config
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Cwd(_) => "cwd-unreadable",
            Self::Exe(_) => "exe-unreadable",
            Self::NotUtf8(_) => "path-not-utf8",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Cwd(_) => "change to a directory that exists and is readable".into(),
            Self::Exe(_) => "start cp9 by its absolute path".into(),
            Self::NotUtf8(_) => "use a directory whose name is valid UTF-8".into(),
        })
    }
}

/// Reads everything once.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
pub(crate) fn surroundings() -> Result<Surroundings, SurroundingsError> {
    Ok(Surroundings {
        args: arguments(),
        environment: environment(std::env::vars_os()),
        cwd: utf8(std::env::current_dir().map_err(SurroundingsError::Cwd)?)?,
        exe: utf8(std::env::current_exe().map_err(SurroundingsError::Exe)?)?,
    })
}

/// The arguments, without the program's own name; bytes that are not UTF-8 are replaced, and so
/// named in the usage error that follows.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect()
}

/// Variables whose name or value is not UTF-8 are left out: no tool of cp9 needs one.
fn environment(vars: impl Iterator<Item = (OsString, OsString)>) -> Environment {
    let vars: BTreeMap<String, String> = vars
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Environment::new(vars)
}

fn utf8(path: PathBuf) -> Result<Utf8PathBuf, SurroundingsError> {
    Utf8PathBuf::from_path_buf(path).map_err(SurroundingsError::NotUtf8)
}
