//! What is recorded, and what is not.
