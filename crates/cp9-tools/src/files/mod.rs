//! Files: atomic writes, private folders, whole trees. Every error names the path.

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
