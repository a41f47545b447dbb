//! A contract: an OpenAPI 3.0 document turned into one ready answer per operation.

mod document;
mod headers;
mod load;
mod media;
mod operation;
mod response;
mod rules;

#[cfg(test)]
mod tests;

pub(crate) use document::{Document, reference};
pub(crate) use load::Contract;
pub use load::{OperationFacts, Refusal, Survey, survey};
pub(crate) use media::choose;
pub(crate) use operation::Operation;
