//! Clouds: who may write where, what a scope holds, and that nothing of it is left.

pub mod aws;
pub mod cloud;
pub mod local;
pub mod reaper;

pub use cloud::{Cloud, CloudError, Found, Ledger, LedgerEntry, ProvenScope};
