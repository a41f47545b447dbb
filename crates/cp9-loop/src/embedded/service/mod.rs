//! One served process as a pure machine: when it starts, stops, restarts or stays down, and when
//! it counts as ready.

mod event;
mod machine;
mod probing;
mod view;

pub(super) use event::{Action, Due, Event, Probes, Started, Which};
pub(super) use machine::Service;
