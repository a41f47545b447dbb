//! This machine as a cloud: what belongs to a session are its processes.

mod adapter;
mod belongs;

pub use adapter::Local;
