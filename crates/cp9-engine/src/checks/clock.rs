//! The clock: not judged, as there is nothing to compare it with. cp9 asks no time server, and a cloud,
//! whose answers carry the time, is not involved.

/// The check's name.
pub(super) const CHECK: &str = "clock";
/// Why it is skipped.
pub(super) const REASON: &str = "nothing to compare it with on this machine alone";
