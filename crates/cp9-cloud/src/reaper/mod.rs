//! Deleting what a scope holds in a cloud account, and proving that nothing of it is left.

mod attempt;
mod estate;
mod event;
mod limits;
mod progress;
mod purge;
mod reap;
#[cfg(test)]
mod tests;

pub use estate::{CallError, Deleting, Estate};
pub use event::{Event, Tell};
pub use limits::Limits;
pub use reap::{Interrupted, Reaped, Reaper, Survey};
