//! The lifecycle of a session: its states, and the one function that may change their status.

mod apply;
mod budget;
mod state;
#[cfg(test)]
mod tests;

pub use apply::{Event, IllegalEvent, apply};
pub use budget::{Budget, Retry};
pub use state::{
    FORMAT, ItemStatus, LastError, SessionState, StateEntry, StateKind, StateName, StateStatus,
    Unreadable,
};
