//! The generated references below `docs/reference/` and the published schemas below `schemas/`.

mod cli;
mod config;
mod exit_codes;
mod product;
mod state;
mod written;

pub(crate) use written::{stale, write};
