//! What a destroy deletes from a cloud, and what it leaves: the values that every cloud's inventory speaks in,
//! and the decisions on them. Nothing here asks a cloud anything.

mod found;
mod key;
mod merge;
mod order;
mod plan;
mod rule;
mod scan;
mod standing;
mod survivor;
mod verdict;

pub use found::{Found, Life, Look, Maker};
pub use key::{GLOBAL, Key, Ours};
pub use merge::merge;
pub use order::{Node, Order, Rules};
pub use plan::Plan;
pub use rule::{Class, Rule};
pub use scan::{Scan, Unverified, Why};
pub use standing::Standing;
pub use survivor::{Failure, Reason, Survivor};
pub use verdict::{Ask, Verdict, in_the_way, judge};
