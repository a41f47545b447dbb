//! Answers, silence and nonsense.
