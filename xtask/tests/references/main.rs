//! The generated references are what the code says now. `cargo xtask docs` writes them.

mod cli;
mod config;
mod exit_codes;
mod generated;
mod product;
mod state;
