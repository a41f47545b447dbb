//! Who a session belongs to and where it may write, decided from what a cloud has proven: pure rules, which
//! never look at the user of the operating system or at a field of the session file for the owner.

mod account;
mod arn;
mod owner;
mod variables;

pub use account::{AccountError, Accounts};
pub use arn::{Arn, ArnError, Principal};
pub use owner::{Claim, OwnerError, OwnerSource, login};
pub use variables::leads_to_credentials;
