//! The only door to the outside: programs, HTTP, files, processes, locks.

/// Everything outside, passed in.
#[derive(Debug, Clone)]
pub struct Doors;
