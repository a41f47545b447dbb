//! AWS: whose credentials these are, and signed calls of any of its services.

pub mod client;
pub mod credentials;
pub mod endpoint;
pub mod error;
pub mod identity;
pub mod paginate;
pub mod partition;
pub mod protocol;
mod prove;
pub mod retry;
mod sign;
pub mod sts;
pub mod tagged;
pub mod types;

#[cfg(test)]
mod tests;

pub use client::{Aws, AwsSettings};
pub use credentials::SessionCredentials;
pub use error::{AwsError, AwsErrorKind};
pub use identity::{AwsProof, Identified, IdentityError, Wishes, identify};
pub use paginate::Paging;
pub use partition::Partition;
pub use protocol::{ApiCall, ApiReply, Body, Protocol};
pub use prove::{Proven, prove};
pub use retry::CallLimits;
pub use sts::{CallerIdentity, RoleRequest, caller_identity};
