//! The session file, `cp9.yaml`: raw types, schema, checks, and the resolved form that goes further.

pub mod adapters;
pub mod envfile;
pub mod schema;

mod check;
mod hidden;
mod load;
mod paths;
mod raw;
mod resolve;
pub mod resolved;
mod rules;
mod shape;

#[cfg(test)]
mod tests;

pub(crate) use hidden::of_text as hidden_in;
pub use load::{Loaded, load, load_for};
pub use resolve::resolved_yaml;
