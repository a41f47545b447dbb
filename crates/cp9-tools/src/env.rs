//! The variables that cp9 was started with, as a value.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use camino::Utf8Path;

/// A snapshot of environment variables. Clones share it; values may be secrets and so are not
/// shown by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
}

impl Environment {
    /// Takes these variables.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            variables: Arc::new(variables.into_iter().collect()),
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The same variables with one added or replaced.
    #[must_use]
    pub fn with(&self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        variables.insert(name.into(), value.into());
        Self {
            variables: Arc::new(variables),
        }
    }

    /// The same variables without one.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        let mut variables = BTreeMap::clone(&self.variables);
        variables.remove(name);
        Self {
            variables: Arc::new(variables),
        }
    }

    /// Every variable, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The user's home, if `HOME` is an absolute path.
    pub fn home(&self) -> Option<&Utf8Path> {
        self.get("HOME")
            .map(Utf8Path::new)
            .filter(|home| home.is_absolute())
    }

    /// Where programs are looked up; empty when `PATH` is not set.
    pub fn path(&self) -> &str {
        self.get("PATH").unwrap_or_default()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlay_leaves_the_original_alone() {
        let base = Environment::new([("A".to_owned(), "1".to_owned())]);
        let over = base.with("A", "2").with("B", "3");
        assert_eq!(base.get("A"), Some("1"));
        assert_eq!(over.get("A"), Some("2"));
        assert_eq!(over.iter().count(), 2);
        assert_eq!(over.without("A").get("A"), None);
        assert_eq!(format!("{over:?}"), r#"{"A", "B"}"#);
    }

    #[test]
    fn home_must_be_absolute() {
        let env = Environment::default();
        assert_eq!(env.home(), None);
        assert_eq!(env.path(), "");
        assert_eq!(env.with("HOME", "").home(), None);
        assert_eq!(env.with("HOME", "a/b").home(), None);
        assert_eq!(env.with("HOME", "/h").home(), Some(Utf8Path::new("/h")));
    }
}
