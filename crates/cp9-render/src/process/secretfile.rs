//! The secret file of a service under construction: unique keys and values with a written form.

use std::collections::BTreeMap;

use crate::envfile::{self, Unwritable};

/// Keys and lines of `secrets/<svc>.env`.
#[derive(Default)]
pub(crate) struct SecretFile {
    lines: BTreeMap<String, String>,
}

impl SecretFile {
    /// Adds a value and gives the key it has in the file: the wanted one where it is a name that
    /// every reader takes and is not taken.
    pub(crate) fn add(&mut self, wanted: &str, value: &str) -> Result<String, Unwritable> {
        let key = self.free(wanted);
        let line = envfile::line(&key, value)?;
        self.lines.insert(key.clone(), line);
        Ok(key)
    }

    fn free(&self, wanted: &str) -> String {
        let clean: String = wanted
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let key = if envfile::is_key(&clean) {
            clean
        } else {
            format!("_{clean}")
        };
        // One more candidate than there are lines: one of them is free.
        let numbered = (2..self.lines.len() + 3).map(|number| format!("{key}_{number}"));
        let mut candidates = std::iter::once(key.clone()).chain(numbered);
        candidates
            .find(|key| !self.lines.contains_key(key))
            .unwrap_or(key)
    }

    /// The content of the file; none if there is nothing in it.
    pub(crate) fn content(&self) -> Option<String> {
        let lines: String = self
            .lines
            .values()
            .flat_map(|line| [line.as_str(), "\n"])
            .collect();
        (!lines.is_empty()).then_some(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_clean_and_unique() {
        let mut file = SecretFile::default();
        assert_eq!(file.add("a.b", "1").as_deref(), Ok("a_b"));
        assert_eq!(file.add("a-b", "2").as_deref(), Ok("a_b_2"));
        assert_eq!(file.add("1x", "3").as_deref(), Ok("_1x"));
        assert_eq!(file.add("x", "a\nb"), Err(Unwritable::Multiline));
        assert_eq!(file.content().as_deref(), Some("_1x=3\na_b=1\na_b_2=2\n"));
        assert_eq!(SecretFile::default().content(), None);
    }
}
