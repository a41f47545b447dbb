//! Destroying a session: its stages, its ledger, the record that stays.

pub(crate) mod ledger;
pub(crate) mod orphans;
mod ports;
pub(crate) mod record;
mod remote;
mod stages;
mod substrate;

pub(crate) use stages::{Destroy, process_survivor};
