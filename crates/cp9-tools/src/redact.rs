//! Removes known secrets from text, in every form in which they travel.

mod former;
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

pub use former::Former;

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
    former: Option<former::Search>,
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

    /// Takes these for all secrets of the past.
    pub fn set_former(&self, former: Option<&Former>) {
        let search = former.map(former::Search::new);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.former = search;
        known.measure();
    }

    /// As `redact`, for a text whose rest is missing: what may be the beginning of a secret goes too.
    pub fn redact_cut(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.redact(&text[..known.settled(text)]).into_owned()
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
        self.search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&self.literals)
            .ok();
        self.measure();
    }

    fn measure(&mut self) {
        let literals = self.literals.iter().map(String::len);
        let former = self.former.iter().map(|former| former.longest);
        self.longest = literals.chain(former).max().unwrap_or(0);
    }

    /// Repeats until nothing is found, because a mask and its surroundings may spell a secret that
    /// contains `*`. Every replacement shortens the text, so this ends.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        while let Some(redacted) = self.present(&text).or_else(|| self.past(&text)) {
            text = Cow::Owned(redacted);
        }
        text
    }

    /// The text without the secrets of now; none if there are none in it.
    fn present(&self, text: &str) -> Option<String> {
        let search = self
            .search
            .as_ref()
            .filter(|search| search.is_match(text))?;
        let mut redacted = String::with_capacity(text.len());
        search.replace_all_with(text, &mut redacted, |_, _, out| {
            out.push_str(MASK);
            true
        });
        Some(redacted)
    }

    /// The text without the secrets of the past; none if there are none in it.
    fn past(&self, text: &str) -> Option<String> {
        let (mut redacted, mut at) = (String::new(), 0);
        let former = self.former.as_ref()?;
        while let Some((start, end)) = former.find(text, at) {
            redacted.push_str(&text[at..start]);
            redacted.push_str(MASK);
            at = end;
        }
        redacted.push_str(&text[at..]);
        (at > 0).then_some(redacted)
    }

    fn settled(&self, text: &str) -> usize {
        let mut end = text.floor_char_boundary((text.len() + 1).saturating_sub(self.longest));
        let found = self.search.iter().flat_map(|search| search.find_iter(text));
        let mut spans: Vec<(usize, usize)> =
            found.map(|found| (found.start(), found.end())).collect();
        let mut at = 0;
        while let Some(span) = self
            .former
            .as_ref()
            .and_then(|former| former.find(text, at))
        {
            at = span.1;
            spans.push(span);
        }
        spans.sort_unstable();
        for (start, stop) in spans {
            if start >= end {
                break;
            }
            end = end.max(stop);
        }
        end
    }
}
