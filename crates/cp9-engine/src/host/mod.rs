//! Hosts: where services run. One adapter per `host.mode`.

mod ports;
mod process;

use cp9_model::host::{HostFacts, PortWanted};

use crate::error::EngineError;

pub(crate) use process::{ChildRecord, ProcessHost};

/// What every host can do.
pub(crate) trait Host {
    /// Makes or verifies the host and writes its facts.
    async fn ensure(&self, wanted: &[PortWanted]) -> Result<HostFacts, EngineError>;

    /// The facts on disk.
    fn load(&self) -> Result<Option<HostFacts>, EngineError>;

    /// True if the facts still hold in the world.
    fn holds(&self, facts: &HostFacts, wanted: &[PortWanted]) -> bool;

    /// Ends what runs, keeps the rest; the number of things ended.
    async fn stop(&self) -> Result<u32, EngineError>;
}
