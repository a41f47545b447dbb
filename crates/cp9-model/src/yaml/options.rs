//! How strictly a text is read, and what it may cost.

use std::ops::Range;

/// Limits and strictness of a read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The largest accepted text, in bytes.
    pub max_bytes: usize,
    /// The deepest nesting, aliases expanded.
    pub max_depth: usize,
    /// The most nodes that are written out in one text.
    pub max_nodes: usize,
    /// What anchors and aliases may copy, in nodes (64 bytes of text count as one more).
    pub max_copies: usize,
    /// Keys are text as written, even `on` and `1`.
    pub text_keys: bool,
    /// Tags outside the core schema are taken as text instead of refused.
    pub custom_tags: bool,
    /// The byte ranges of a text that no snippet and no message may show.
    pub secrets: fn(&str) -> Vec<Range<usize>>,
}

impl Options {
    /// For files that a person writes for cp9: small and strict.
    pub fn config() -> Self {
        Self {
            max_bytes: 512 * 1024,
            max_depth: 64,
            max_nodes: 10_000,
            max_copies: 10_000,
            text_keys: true,
            custom_tags: false,
            secrets: crate::config::hidden_in,
        }
    }

    /// For Kubernetes manifests: values as kubectl reads them; a repeated key is refused, as by the API
    /// server, since one of its values would be lost in silence.
    pub fn manifest() -> Self {
        Self {
            max_bytes: 64 * 1024 * 1024,
            max_depth: 100,
            max_nodes: 4_000_000,
            max_copies: 200_000,
            text_keys: false,
            custom_tags: true,
            secrets: super::secrets::hidden_in,
        }
    }
}
