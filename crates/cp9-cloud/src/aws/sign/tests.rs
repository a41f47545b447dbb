//! Published signatures.
