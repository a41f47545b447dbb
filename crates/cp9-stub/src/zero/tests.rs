//! Zero values.
