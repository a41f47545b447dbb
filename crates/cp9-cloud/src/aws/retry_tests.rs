//! Repeats under a paused clock.
