//! The translation of the manifests of a session into processes of this machine.

mod argv;
mod aws;
mod context;
mod declared;
mod environment;
mod expand;
mod fields;
mod ignore;
mod lay;
mod names;
mod objects;
mod parts;
mod patch;
mod probes;
mod redact;
pub mod report;
mod rewrite;
mod secretfile;
mod service;
pub(crate) mod stub;
#[cfg(test)]
pub(crate) mod tests;
mod translate;
mod volumes;
pub(crate) mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::Utf8Path;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::{FileSpec, PortSpec, Probe, SecretRef};
use cp9_model::graph::ServiceGraph;
use cp9_model::host::{HostFacts, PortWanted};
use cp9_model::{Scope, ServiceName};
use indexmap::IndexMap;

use crate::argo::ServiceInput;
use crate::tree::FileTree;
pub(crate) use argv::BINARY;
pub use aws::AwsScope;
pub use report::ContextReport;
pub use stub::{contract_problem, definition_copy};
pub use translate::translate;

/// Everything a translation depends on.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The session file, resolved.
    pub config: &'a ResolvedConfig,
    /// The services in first-start order.
    pub graph: &'a ServiceGraph,
    /// What the services bring from the app-delivery tree.
    pub inputs: &'a [ServiceInput],
    /// The allocated ports.
    pub host: &'a HostFacts,
    /// Owner, session and folder id.
    pub scope: &'a Scope,
    /// Secret values of the session file and its env files, by service.
    pub secrets: &'a BTreeMap<ServiceName, Vec<(String, String)>>,
    /// The definition files of stubs that exist, by stub.
    pub definitions: &'a BTreeMap<ServiceName, Vec<u8>>,
    /// The absolute session folder, `.cp9/<name>`.
    pub folder: &'a Utf8Path,
    /// Where the session writes on AWS; none if it does not.
    pub aws: Option<&'a AwsScope>,
}

/// What a translation gives.
pub struct Rendered {
    /// The tree below `tilt/inputs`: manifests, patches, definitions and files of mounts.
    pub inputs: FileTree,
    /// The content of `secrets/<svc>.env`, only for services that have one.
    pub secret_files: BTreeMap<ServiceName, String>,
    /// How each service runs.
    pub workloads: BTreeMap<ServiceName, ProcessWorkload>,
    /// `tilt/reports/context-report.json`.
    pub report: ContextReport,
}

impl fmt::Debug for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendered")
            .field("inputs", &self.inputs.keys())
            .field("secret_files", &self.secret_files.keys())
            .field("workloads", &self.workloads)
            .finish_non_exhaustive()
    }
}

/// How a service runs as a process. Texts may hold `${session}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessWorkload {
    /// The command. The first argument of a built service is the place of its binary.
    pub argv: Vec<String>,
    /// True when the binary built from source stands in place of `argv[0]`.
    pub built: bool,
    /// The working directory; absolute only if the session file says so.
    pub cwd: String,
    /// Plain variables, in order.
    pub env: IndexMap<String, String>,
    /// Variables from the secret file.
    pub secrets: Vec<SecretRef>,
    /// Files of mounts.
    pub files: Vec<FileSpec>,
    /// Private folders.
    pub dirs: Vec<String>,
    /// Ports with their loopback ports.
    pub ports: Vec<PortSpec>,
    /// When it counts as ready.
    pub ready: Probe,
    /// When it must be restarted.
    pub live: Option<Probe>,
    /// Seconds between the stop signal and the kill.
    pub grace_seconds: u32,
    /// Where it answers, the main port first.
    pub links: Vec<String>,
}

/// The ports that the services ask for. Never fails: what is wrong is said by `translate`.
pub fn ports_wanted(inputs: &[ServiceInput], config: &ResolvedConfig) -> Vec<PortWanted> {
    let mut wanted: BTreeSet<PortWanted> = stub::port(config).collect();
    for input in inputs {
        let Ok(workload) = workload::choose(input, workload::run(config, &input.service)) else {
            continue;
        };
        for port in workload::ports(input, &workload) {
            wanted.insert(PortWanted {
                service: input.service.to_string(),
                container: port.number,
            });
        }
    }
    wanted.into_iter().collect()
}
