//! The parts of `cp9 deploy`: what can go wrong, the steps with their times, the wait for the new
//! version and its proof.

mod error;
mod follow;
mod steps;

pub(crate) use error::DeployError;
pub(crate) use follow::{Deploy, Followed};
pub(crate) use steps::{Step, Steps};
