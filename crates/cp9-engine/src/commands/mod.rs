//! One file per command.

pub mod controller;
pub mod destroy;
pub mod logs;
pub mod pause;
pub mod status;
pub mod up;
