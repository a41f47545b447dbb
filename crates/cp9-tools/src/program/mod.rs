//! Programs: what is run is a value (`Cmd`), how it ended is a value (`Output`, `ProgramError`),
//! and only the doors run it.

mod capture;
mod child;
mod cmd;
mod drive;
mod error;
mod inherited;
mod launch;
mod output;
mod run;
#[cfg(test)]
mod tests;
mod which;

pub use child::Child;
pub use cmd::Cmd;
pub use error::{Ended, ProgramError};
pub use inherited::keep_inherited_files;
pub use output::{Exit, Output, StreamKind};
