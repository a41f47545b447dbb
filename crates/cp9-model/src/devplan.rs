//! The dev plan, `cp9.devplan/v1`: what a controller builds, runs, watches and probes.
//! Strings may hold `${root}` for a key of `roots`; a build's argv also `${output}`.
//! No secret values, times, pids, nor absolute paths outside `roots`.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version word of the plan file.
pub const API_VERSION: &str = "cp9.devplan/v1";

/// The whole plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DevPlan {
    /// Always `cp9.devplan/v1`.
    pub api_version: String,
    /// The session's name.
    pub session: String,
    /// Absolute folders by name: `session`, `cache` and one `src-<svc>` per source service.
    pub roots: IndexMap<String, String>,
    /// What there is to build and run, in the order of the services.
    pub resources: Vec<Resource>,
}

/// One thing a controller keeps true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// `<svc>-live-binary`, `<svc>-image` or `<svc>`.
    pub name: String,
    /// The service it belongs to.
    pub service: String,
    /// What is done with it.
    pub kind: ResourceKind,
    /// Files and folders whose change triggers it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<String>,
    /// Ignore patterns in gitignore syntax, relative to each watched folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The command, as arguments; never a shell line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// Plain environment variables, in order. A serve resource gets these and nothing else;
    /// a build gets them on top of the user's environment.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// Variables whose values come from the service's secret file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRef>,
    /// Build: where the product lands. Serve: the binary that is run in place of `argv[0]`
    /// (executed from a copy named by its hash), if it is built from source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Files laid before the process starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileSpec>,
    /// Private folders made (0700) before the process starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirs: Vec<String>,
    /// Ports the process listens on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortSpec>,
    /// When the resource counts as ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Probe>,
    /// When a running process must be restarted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Probe>,
    /// Resources that must have had success before the first start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deps: Vec<String>,
    /// Whether a change triggers it or only a person does.
    pub trigger: Trigger,
    /// Steps that bring a new binary into a running container.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live_update: Vec<LiveUpdateStep>,
    /// Where a person can look, as URLs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Seconds between the stop signal and the kill.
    #[serde(default = "default_grace")]
    pub grace_seconds: u32,
}

fn default_grace() -> u32 {
    5
}

/// What a controller does with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResourceKind {
    /// Run a command to its end.
    Build,
    /// Keep a process running.
    Serve,
    /// Apply manifests to a cluster.
    Apply,
}

/// When a change leads to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// By itself.
    Auto,
    /// Only when asked.
    Manual,
}

/// A variable whose value is a key of the service's secret file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    /// The variable's name.
    pub env: String,
    /// The secret file, `${session}/secrets/<svc>.env`.
    pub file: String,
    /// The key in it.
    pub key: String,
}

/// A file laid for a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Where it is laid (0600).
    pub path: String,
    /// The file it is copied from, or the secret file if `key` is set.
    pub source: String,
    /// The key of the secret file that holds the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A port of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// Its name in the manifest, else `port-<container>`.
    pub name: String,
    /// The port in the manifest.
    pub container: u16,
    /// The loopback port allocated on this machine.
    pub host: u16,
}

/// A probe with the manifest's timing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What is asked.
    pub check: Check,
    /// Seconds between checks after the first success.
    pub period_seconds: u32,
    /// Seconds one check may take.
    pub timeout_seconds: u32,
    /// Failures in a row that turn a ready resource unready.
    pub failure_threshold: u32,
    /// Successes in a row that make it ready.
    pub success_threshold: u32,
}

/// What a probe asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "type", deny_unknown_fields)]
pub enum Check {
    /// An HTTP GET with a status from 200 to 399.
    Http {
        /// The loopback port.
        port: u16,
        /// The path and query.
        path: String,
        /// Extra headers.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        headers: IndexMap<String, String>,
    },
    /// A TCP port accepts.
    Tcp {
        /// The loopback port.
        port: u16,
    },
    /// Every one of these TCP ports accepts.
    Ports {
        /// The loopback ports.
        ports: Vec<u16>,
    },
    /// A command ends with 0, in the environment of the process.
    Exec {
        /// The command.
        argv: Vec<String>,
    },
    /// The process has been alive for this long.
    Alive {
        /// Milliseconds.
        millis: u32,
    },
}

/// A step of a live update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "type", deny_unknown_fields)]
pub enum LiveUpdateStep {
    /// Copy a file into the container.
    Sync {
        /// Local file.
        from: String,
        /// Path in the container.
        to: String,
    },
    /// Run a command in the container.
    Run {
        /// The command.
        argv: Vec<String>,
        /// Only when one of these changed.
        trigger: Vec<String>,
    },
    /// Give up live update when one of these changed.
    FallBackOn {
        /// Files.
        paths: Vec<String>,
    },
}

impl DevPlan {
    /// The digest that tells one plan from another.
    pub fn digest(&self) -> String {
        crate::digest::value(self).expect("a plan is plain data and always serialises")
    }

    /// Replaces `${root}` by the root's folder.
    pub fn expand(&self, text: &str) -> String {
        self.roots.iter().fold(text.to_owned(), |text, (key, dir)| {
            text.replace(&format!("${{{key}}}"), dir)
        })
    }

    /// The resource of a name.
    pub fn resource(&self, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.name == name)
    }
}
