//! Programs: what is run is a value (`Cmd`), how it ended is a value (`Output`, `ProgramError`),
//! and only the doors run it.

mod capture;
mod child;
mod cmd;
mod error;
mod launch;
mod output;
mod run;
mod which;
#[cfg(test)]
mod tests;

pub use child::Child;
pub use cmd::Cmd;
pub use error::{Ended, ProgramError};
pub use output::{Exit, Output, StreamKind};
