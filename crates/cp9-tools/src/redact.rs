//! Removes known secrets from text, in every form in which they travel.

mod forms;
mod quoted;

#[cfg(test)]
mod quoted_tests;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::secret::Secret;

/// What stands where a secret stood.
pub const MASK: &str = "***";

/// Shorter literals are everywhere in ordinary text and so are left alone.
pub(crate) const SHORTEST: usize = 4;

/// Knows the secrets of this run. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    secrets: BTreeSet<Secret>,
    literals: BTreeSet<String>,
    longest: usize,
    search: Option<AhoCorasick>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.secrets.len())
    }
}

impl Redactor {
    /// Knows no secret yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns a secret; values under four bytes are ignored.
    pub fn add(&self, secret: &Secret) {
        if secret.expose().len() < SHORTEST || self.knows(secret) {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.secrets.insert(secret.clone());
        known.literals.extend(forms::of(secret.expose()));
        known.rebuild();
    }

    /// The text with every form of every known secret replaced by `***`.
    pub fn redact(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.redact(text).into_owned()
    }

    /// The length of the longest form in bytes.
    pub(crate) fn longest(&self) -> usize {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.longest
    }

    /// The end of the longest prefix of `text` that can be redacted by itself whatever follows.
    pub(crate) fn settled(&self, text: &str) -> usize {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.settled(text)
    }

    fn knows(&self, secret: &Secret) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.secrets.contains(secret)
    }
}

impl Known {
    fn rebuild(&mut self) {
        self.longest = self.literals.iter().map(String::len).max().unwrap_or(0);
        self.search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&self.literals)
            .ok();
    }

    /// Repeats until nothing is found, because a mask and its surroundings may spell a secret that
    /// contains `*`. Every replacement shortens the text, so this ends.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        while let Some(search) = self.search.as_ref().filter(|s| s.is_match(text.as_ref())) {
            let mut redacted = String::with_capacity(text.len());
            search.replace_all_with(&text, &mut redacted, |_, _, out| {
                out.push_str(MASK);
                true
            });
            text = Cow::Owned(redacted);
        }
        text
    }

    fn settled(&self, text: &str) -> usize {
        let Some(search) = &self.search else {
            return text.len();
        };
        let mut end = text.floor_char_boundary((text.len() + 1).saturating_sub(self.longest));
        for found in search.find_iter(text) {
            if found.start() >= end {
                break;
            }
            end = end.max(found.end());
        }
        end
    }
}
