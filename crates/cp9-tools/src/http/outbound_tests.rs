//! Requests to the outside.
