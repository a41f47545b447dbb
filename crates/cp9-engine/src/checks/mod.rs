//! The checks of `doctor`, one file each: a gatherer that reads facts, and a judge that is a function on
//! them. They look; nothing is changed or started for good, and nothing is asked of the network but who one
//! is on the cloud that the session file names.

mod clock;
mod config;
mod context;
mod context_report;
mod controller;
mod credentials;
mod disk;
mod envs;
mod fallbacks;
mod identity;
mod journal;
mod leftovers;
mod limits;
mod list;
mod manifests;
mod memory;
mod orphans;
mod overrides;
mod permissions;
mod ports;
mod profile;
mod registry;
mod secrets;
mod sheet;
mod sources;
mod stubs;
mod tags;
mod terraform;
mod tools;
mod ttl;

pub(crate) use context::Context;
pub(crate) use list::all;
