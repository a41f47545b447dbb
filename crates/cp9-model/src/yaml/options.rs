//! How strictly a text is read, and what it may cost.

use crate::diagnostic::Severity;

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
    /// What a repeated key is; as a warning the last one wins, as in kubectl.
    pub duplicate_keys: Severity,
    /// Keys are text as written, even `on` and `1`.
    pub text_keys: bool,
    /// Tags outside the core schema are taken as text instead of refused.
    pub custom_tags: bool,
}

impl Options {
    /// For files that a person writes for cp9: small and strict.
    pub fn config() -> Self {
        Self {
            max_bytes: 512 * 1024,
            max_depth: 64,
            max_nodes: 10_000,
            max_copies: 10_000,
            duplicate_keys: Severity::Error,
            text_keys: true,
            custom_tags: false,
        }
    }

    /// For Kubernetes manifests, as kubectl reads them.
    pub fn manifest() -> Self {
        Self {
            max_bytes: 64 * 1024 * 1024,
            max_depth: 100,
            max_nodes: 4_000_000,
            max_copies: 200_000,
            duplicate_keys: Severity::Warning,
            text_keys: false,
            custom_tags: true,
        }
    }
}
