//! YAML with spans: text in, a tree of our own out, every node with its place.
//!
//! The parser crate stays behind this module. Scalars are resolved by the rules of kubectl's Go
//! reader, so that cp9 and the cluster agree on what a document says.

mod budget;
mod build;
mod frame;
mod node;
mod options;
mod parse;
mod scalar;
mod secrets;
mod spans;

#[cfg(test)]
mod tests;

pub use node::{Document, Entry, Node, Style, Value};
pub use options::Options;
pub(crate) use parse::parse_source;
pub use parse::{decode, parse_bytes};
pub use scalar::{Resolved, resolve_plain};
pub(crate) use spans::escape;
pub use spans::{Place, Spans};
