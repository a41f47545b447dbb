//! The embedded controller with real child processes: shell scripts as services and builds.

mod adoption;
mod builds;
mod control;
mod follow;
mod generations;
mod processes;
mod session;
