//! No form of a secret survives.
