//! What keeps a session alive after `up`: the controllers that watch, build, run and probe by the
//! dev plan, and the logs they keep.

mod controller;
pub mod convergence;
pub mod embedded;
pub mod logs;
pub mod secrets;

pub use controller::{Controller, ControllerError};
