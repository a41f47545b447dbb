//! The resolved session: defaults applied, paths absolute, names parsed. Only this goes further.

mod target;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::name::{ServiceName, SessionName};

pub use target::{AwsTarget, Ci, CloudName, Target};

/// A whole session, ready to act on; also the content of `cp9.resolved.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedConfig {
    /// `cp9.tidbcloud.com/v1alpha2`.
    pub api_version: String,
    /// `Session`.
    pub kind: String,
    /// The session's name.
    pub name: SessionName,
    /// The absolute path of the session file.
    pub file: String,
    /// The controller, `auto` already decided.
    pub controller: ControllerKind,
    /// Where services run.
    pub host: Host,
    /// Which cloud is written to.
    pub target: Target,
    /// The substrate's Terraform root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terraform: Option<Terraform>,
    /// Where the app environments come from.
    #[serde(
        rename = "appDelivery",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub app_delivery: Option<AppDelivery>,
    /// How the controller is started.
    pub tilt: Tilt,
    /// The services.
    pub services: Services,
    /// Services built from source, by default every key of `services.source`.
    #[serde(rename = "source_build_services")]
    pub source_build_services: Vec<ServiceName>,
    /// Secret inputs by service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<ServiceName, SecretInputs>,
    /// Retry budgets.
    pub retry: Retry,
    /// Where trace ids stand.
    #[serde(default)]
    pub trace: Trace,
    /// What CI may claim.
    #[serde(default, skip_serializing_if = "Ci::is_empty")]
    pub ci: Ci,
    /// Everything else of the file that later states read, as checked against the schema: `clouds`, `credentials`, `metadb`, `reaper`, `tunnel`, `registries`, `contracts`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Who owns change, build, deploy and verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControllerKind {
    /// The small one of cp9.
    Embedded,
    /// Tilt.
    Tilt,
}

/// Where services run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The kind of host.
    pub mode: HostMode,
    /// The duration as written, such as `8h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
    /// The same in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// The kubeconfig of an existing cluster, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// The context inside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The k3d cluster that cp9 creates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k3d: Option<K3d>,
}

/// The k3d cluster that cp9 creates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct K3d {
    /// Agent nodes.
    pub agents: u32,
    /// Memory of the nodes, such as `8G`.
    pub memory: String,
    /// Whether a registry is created beside the cluster.
    pub registry: bool,
}

/// The kind of host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostMode {
    /// Child processes of this machine.
    Process,
    /// A k3d cluster that cp9 creates.
    LocalK3d,
    /// A cluster the user already has.
    ExistingCluster,
    /// A k3d cluster on an EC2 host.
    RemoteEc2K3d,
}

/// The substrate's Terraform root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terraform {
    /// Local folder or git URL.
    pub repo: String,
    /// The git ref.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
    /// The root module inside it.
    pub path: String,
    /// The persona's variables inside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub var_file: Option<String>,
    /// `local`.
    pub state: String,
}

/// Where the app environments come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppDelivery {
    /// Absolute local folder, or a git URL.
    pub repo: String,
    /// The git ref.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
    /// The environment.
    pub env: String,
}

/// How the controller is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tilt {
    /// `up`, `ci` or `generate-only`.
    pub mode: TiltMode,
    /// Tilt's port.
    pub port: u16,
    /// A Tiltfile loaded last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include: Option<String>,
}

/// How the controller is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TiltMode {
    /// Started and left running.
    Up,
    /// Fails fast, for gates.
    Ci,
    /// Not started; the command is printed.
    GenerateOnly,
}

/// The services by how they are provided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Services {
    /// Built from source.
    #[serde(default)]
    pub source: BTreeMap<ServiceName, SourceService>,
    /// Run as declared.
    #[serde(default)]
    pub live: BTreeMap<ServiceName, LiveService>,
    /// Replaced.
    #[serde(default)]
    pub stub: BTreeMap<ServiceName, StubService>,
}

/// A service built from source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceService {
    /// Absolute local folder, or a git URL.
    pub repo: String,
    /// The wanted git ref.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
    /// How it is built.
    pub build: Build,
    /// Its application object.
    pub app: App,
    /// Override manifests, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// How it runs as a process.
    #[serde(default)]
    pub run: Run,
    /// Services that must have been ready once before its first start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<ServiceName>,
}

/// How a service is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The entry source file, relative to the repo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    /// The command with `${output}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Extra ignore patterns, gitignore syntax.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

/// A service's application object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct App {
    /// The object's name; the service's own unless aliased.
    pub name: String,
    /// The registry file, relative to the app-delivery root.
    pub registry: String,
    /// The environment.
    pub env: String,
}

/// A real service as declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveService {
    /// Its application object.
    pub app: App,
    /// Override manifests, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// How it runs as a process.
    #[serde(default)]
    pub run: Run,
    /// Services that must have been ready once before its first start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<ServiceName>,
}

/// A replaced service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StubService {
    /// `swagger`, `proto`, `metering-recorder`, `billing-recorder` or `permissive`; `undefined`
    /// where the file says nothing, which answers as `permissive` does.
    pub kind: String,
    /// The definition file, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The recording, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// How a service runs as a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The command in place of the container's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The working directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Extra variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Which variable carries a named port.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<String, String>,
    /// The container that is the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Parts of the manifests to leave out, such as `initContainers/migrate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

/// Secret inputs of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretInputs {
    /// An env file, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_file: Option<String>,
    /// Names of inline values; the values themselves never leave the session file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// Retry budgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Attempts by state; 3 where absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, u32>,
    /// Retries in the whole session.
    pub total: u32,
    /// `abort` or `draft-pr`.
    pub on_budget_exceeded: String,
}

impl Retry {
    /// How often a state may be tried in one run.
    pub fn attempts(&self, state: &str) -> u32 {
        self.states.get(state).copied().unwrap_or(3)
    }
}

/// Where trace ids stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The HTTP header that carries the trace id.
    pub header: String,
    /// The keys of log lines that hold it, whatever their case.
    pub keys: Vec<String>,
}

impl Trace {
    /// The header and keys that are given, the defaults for those that are not. The header always
    /// counts as a key too.
    pub fn new(header: Option<String>, keys: Option<Vec<String>>) -> Self {
        let header = header.unwrap_or_else(|| "X-Trace-Id".into());
        let mut keys = keys.unwrap_or_else(|| {
            ["trace_id", "trace-id", "traceId"]
                .map(str::to_owned)
                .into()
        });
        if !keys.iter().any(|key| key.eq_ignore_ascii_case(&header)) {
            keys.push(header.clone());
        }
        Self { header, keys }
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self::new(None, None)
    }
}
