//! The substrate's working copy: which files of a checkout belong to it, what cp9 adds to them, and the
//! values that the root module is given.

mod hcl;
mod source;
#[cfg(test)]
mod tests;
mod tfvars;

pub use source::{missing_folders, working_copy};
pub use tfvars::{Values, WorkingCopy};
