//! The generated references are what the code says now. `cargo xtask docs` writes them.

mod cli;
mod config;
mod devplan;
mod exit_codes;
mod facts;
mod generated;
mod keys;
mod output;
mod product;
mod state;
