//! The command line of cp9: arguments in (flags and the ticat dialect), text or JSON and an exit
//! code out. No rule of cp9 lives here.

mod bug;
mod chain;
mod cli;
mod commands;
mod dialect;
mod duration;
mod env;
mod error;
mod progress;
mod render;
mod signals;
mod suggest;
mod tree;
mod ui;
mod usage;

use std::process::ExitCode;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    cp9_tools::program::keep_inherited_files();
    ExitCode::from(bug::guard(chain::run).code())
}
