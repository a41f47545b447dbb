//! The user's own folders, by the XDG rules, from the environment that was passed in.

use camino::Utf8PathBuf;
use cp9_model::{Category, Explain};
use cp9_tools::Environment;
use thiserror::Error;

/// Where cp9 keeps what outlives a session folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dirs {
    /// The registry of sessions.
    pub(crate) state: Utf8PathBuf,
    /// Build caches.
    pub(crate) cache: Utf8PathBuf,
    /// Sockets whose own folder has too long a path.
    pub(crate) runtime: Utf8PathBuf,
}

/// The environment names no home.
#[derive(Debug, Error)]
#[error("the environment variable `HOME` is not set")]
pub(crate) struct NoHome;

impl Explain for NoHome {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "no-home"
    }
    fn remedy(&self) -> Option<String> {
        Some("set HOME to a folder that you may write to".into())
    }
}

impl Dirs {
    /// Reads the folders from the environment. Relative values are ignored, as XDG says.
    pub(crate) fn of(env: &Environment) -> Result<Self, NoHome> {
        let absolute = |key: &str| {
            env.get(key)
                .filter(|value| value.starts_with('/'))
                .map(Utf8PathBuf::from)
        };
        let home = || absolute("HOME").ok_or(NoHome);
        let state = absolute("XDG_STATE_HOME")
            .map_or_else(|| home().map(|home| home.join(".local/state")), Ok)?;
        let cache = absolute("XDG_CACHE_HOME")
            .map_or_else(|| home().map(|home| home.join(".cache")), Ok)?;
        let runtime = absolute("XDG_RUNTIME_DIR").unwrap_or_else(|| state.join("cp9/run"));
        Ok(Self {
            state: state.join("cp9"),
            cache: cache.join("cp9"),
            runtime: runtime.join("cp9"),
        })
    }

    /// One file per session name of this user.
    pub(crate) fn registry(&self) -> Utf8PathBuf {
        self.state.join("sessions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        let map: BTreeMap<String, String> = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        Environment::new(map)
    }

    #[test]
    fn xdg_wins_over_home_and_relative_values_are_ignored() {
        let dirs = Dirs::of(&env(&[
            ("HOME", "/h"),
            ("XDG_STATE_HOME", "rel"),
            ("XDG_CACHE_HOME", "/c"),
        ]));
        let dirs = dirs.expect("home is set");
        assert_eq!(dirs.state, "/h/.local/state/cp9");
        assert_eq!(dirs.cache, "/c/cp9");
        assert_eq!(dirs.runtime, "/h/.local/state/cp9/run/cp9");
        assert!(Dirs::of(&env(&[])).is_err());
    }
}
