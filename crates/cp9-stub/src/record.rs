//! The recording of a recorder: one JSON line per request, appended in one write.

mod body;
mod file;
mod hide;
mod line;

#[cfg(test)]
mod tests;

pub(crate) use file::{Recording, Repair};
pub use hide::Hide;
pub(crate) use line::{Request, line};
