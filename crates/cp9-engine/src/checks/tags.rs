//! Tags of cloud resources: not audited, as the `local` cloud has none.

/// The check's name.
pub(super) const CHECK: &str = "tags";
/// Why it is skipped.
pub(super) const REASON: &str = "nothing outside this machine is written to";
