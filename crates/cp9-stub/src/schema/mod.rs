//! Schemas of OpenAPI 3.0 as JSON Schema, and the validator that has the last word on every value.

mod cost;
mod judge;
mod normalise;

pub(crate) use cost::Cost;
pub(crate) use judge::Judge;
pub(crate) use normalise::{is_write_only, mapped_target, tag_of};
