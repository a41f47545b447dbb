//! Files: atomic writes, private folders, whole trees. Every error names the path.

#![expect(
    clippy::disallowed_methods,
    reason = "the one door to files: what changes them is recorded here"
)]

pub(crate) mod append;
mod atomic;
mod error;
mod list;
mod read;
mod remove;
mod room;
#[cfg(test)]
mod tests;
mod tree;

pub use error::FileError;
