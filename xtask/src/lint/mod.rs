//! The static checks: they read files and `cargo metadata`, and compile nothing.

mod headers;
mod layering;
mod licences;
mod listed;
mod run;
mod sizes;
mod words;

pub(crate) use run::{all, run};
