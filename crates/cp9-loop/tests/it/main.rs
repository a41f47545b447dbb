//! The embedded controller with real child processes: shell scripts as services and builds.

#![expect(
    clippy::disallowed_methods,
    reason = "tests change their own files and start themselves again"
)]

mod adoption;
mod builds;
mod control;
mod follow;
mod generations;
mod processes;
mod session;
