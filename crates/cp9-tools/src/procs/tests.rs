//! Processes are found, told apart and ended.
