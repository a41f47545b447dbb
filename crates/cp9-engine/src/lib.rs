//! The use cases of cp9: session folder, lock, journal, the states of `up`, hosts and commands.

pub mod commands;
pub mod engine;
pub mod error;

pub use engine::{Engine, Select};
pub use error::{EngineError, Outcome};
