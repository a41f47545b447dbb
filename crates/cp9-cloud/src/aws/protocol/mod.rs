//! The wire protocols of AWS: what a call looks like as a request, and what its answer means.
//! Functions on values; nothing is sent here.

mod call;
mod encode;
mod escape;
mod failure;
mod reply;
mod xml;

#[cfg(test)]
mod tests;

pub use call::{ApiCall, Body, Protocol};
pub use escape::escape;
pub use reply::{ApiReply, list, text};

pub(crate) use encode::{Wire, encode};
pub(crate) use failure::{failure, is_late_failure, server_time};
