//! Facts of the selected host, `host.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What `host_ready` made or found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Always `cp9.host/v1`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// `process` for bare processes of this machine.
    pub mode: String,
    /// The id of the session folder.
    pub id: String,
    /// The controller's socket.
    pub socket: String,
    /// Allocated loopback ports by service, then by container port.
    pub ports: BTreeMap<String, BTreeMap<u16, u16>>,
}

impl HostFacts {
    /// The loopback port of a service's container port.
    pub fn port(&self, service: &str, container: u16) -> Option<u16> {
        self.ports.get(service)?.get(&container).copied()
    }
}

/// A port that a service's manifests ask for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PortWanted {
    /// The service.
    pub service: String,
    /// The port in the manifest.
    pub container: u16,
}
