//! What a destroy deletes from a cloud, and what it leaves: the values that every cloud's inventory speaks in,
//! and the decisions on them. Nothing here asks a cloud anything.

mod found;
mod key;
mod rule;
mod scan;

pub use found::{Found, Life, Look, Maker};
pub use key::{GLOBAL, Key, Ours};
pub use rule::{Class, Rule};
pub use scan::{Scan, Unverified, Why};
