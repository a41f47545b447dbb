//! The substrate of a session: its folder, the calls of Terraform, what an earlier run left, and what is
//! known of each resource. The states and the destroy say when; here is how.

mod apply;
mod call;
mod destroy;
mod error;
mod init;
mod interrupt;
mod orphans;
mod paths;
mod plan;
mod record;
mod recover;
mod source;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use destroy::{identified, needed, region, root, why_left};
pub(crate) use interrupt::interrupt;
pub(crate) use paths::Paths;
pub(crate) use recover::Recover;
pub(crate) use source::read;
pub(crate) use work::{Identity, Tell, Work, credentials};
