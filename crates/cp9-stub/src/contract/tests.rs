//! Contracts and their answers.
