//! One holder at a time.
