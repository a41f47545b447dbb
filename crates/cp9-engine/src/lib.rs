//! The use cases of cp9: session folder, lock, journal, the states of `up`, hosts and commands.

mod begin;
mod checks;
pub mod commands;
mod contract;
mod deploy;
mod destroy;
mod dirs;
mod document;
mod drive;
pub mod engine;
pub mod error;
mod facts;
mod fault;
mod folder;
mod host;
mod identity;
mod lend;
mod profile;
mod registry;
mod run;
mod secrets;
mod select;
mod session;
mod settled;
mod states;
mod substrate;

pub use contract::{ContractFault, JudgeContract};
pub use engine::{Engine, Select};
pub use error::{EngineError, Outcome};
pub use secrets::SessionSecrets;
