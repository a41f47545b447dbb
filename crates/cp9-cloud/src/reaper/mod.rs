//! Deleting what a scope holds in a cloud account, and proving that nothing of it is left.

mod estate;

pub use estate::{CallError, Deleting, Estate};
