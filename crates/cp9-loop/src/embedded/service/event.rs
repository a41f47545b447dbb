//! What a served process is told and what it asks for.

use std::time::Duration;

use cp9_model::devplan::Probe;
use cp9_tools::ProcessId;

use crate::embedded::builder::Product;

/// Which probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::embedded) enum Which {
    /// Decides whether the process is ready.
    Ready,
    /// Decides whether the process must be restarted.
    Live,
}

/// Which timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::embedded) enum Due {
    /// A back-off is over.
    Restart,
    /// The run has lasted long enough to clear the failures.
    Stable,
    /// The start has taken too long.
    Late,
}

/// What a running process was started from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::embedded) struct Started {
    /// Its binary and source digests.
    pub(in crate::embedded) product: Option<Product>,
    /// Digest of its plan entry, files and secrets.
    pub(in crate::embedded) entry: String,
}

/// What happens to a served process. `run` tells which start an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::embedded) enum Event {
    /// What it depends on has had success.
    DepsMet,
    /// A product to run.
    Product(Product),
    /// The digest of its plan entry, files and secrets; a new one restarts it.
    Entry(String),
    /// A person asks for a restart.
    Triggered,
    /// A process of an earlier controller goes on under this one.
    Adopted(ProcessId, Started),
    /// The process was started.
    Spawned(u64, ProcessId),
    /// It could not be started, with the reason.
    SpawnFailed(u64, String),
    /// It ended, with the reason in words.
    Exited(u64, String),
    /// A probe answered.
    Probed(u64, Which, Result<(), String>),
    /// A timer fired.
    Due(u64, Due),
    /// The controller ends, or the resource left the plan.
    Stop,
}

/// What must be done, for the run it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::embedded) enum Action {
    /// Start the process from this.
    Spawn(u64, Started),
    /// Stop it: signal, grace, kill.
    Stop(u64),
    /// Ask a probe after a pause.
    Probe(u64, Which, Duration),
    /// Fire a timer after a pause.
    Timer(u64, Due, Duration),
}

/// How a process is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::embedded) struct Probes {
    /// Readiness.
    pub(in crate::embedded) ready: Probe,
    /// Liveness.
    pub(in crate::embedded) live: Option<Probe>,
}
