//! The session file, `cp9.yaml`: raw types, schema, checks, and the resolved form that goes further.

pub mod resolved;
