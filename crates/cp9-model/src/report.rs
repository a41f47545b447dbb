//! What commands return: typed reports, rendered as text or JSON by the binary.

mod deploy;
mod destroy;
mod identity;

pub mod doctor;
pub mod setup;
pub mod stub;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::control::ResourceStatus;
use crate::generation::Generation;
use crate::graph::ServiceKind;

pub use doctor::DoctorReport;
pub use setup::SetupReport;
pub use stub::StubReport;

pub use deploy::{DeployReport, DeployStep};
pub use destroy::{DestroyReport, PlanReport, PlanStep, StageReport, Survivor};
pub use identity::IdentityReport;

/// The result of `up`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpReport {
    /// The session's name.
    pub session: String,
    /// The session's owner.
    pub owner: String,
    /// The session folder.
    pub folder: String,
    /// Every state of the lifecycle.
    pub states: Vec<StateReport>,
    /// Every service.
    pub services: Vec<ServiceReport>,
    /// The command that starts the controller, when `up` did not start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<String>,
}

/// The result of `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusReport {
    /// The session's name.
    pub session: String,
    /// The session's owner.
    pub owner: String,
    /// The session folder.
    pub folder: String,
    /// The identity that was last proven, where the session writes to a cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<IdentityReport>,
    /// Every state of the lifecycle.
    pub states: Vec<StateReport>,
    /// Every service.
    pub services: Vec<ServiceReport>,
    /// The controller.
    pub controller: ControllerReport,
    /// When the session was last used, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_active: Option<String>,
    /// Seconds until the session counts as expired; negative when it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<i64>,
}

/// One state of the lifecycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateReport {
    /// The state's name.
    pub name: String,
    /// `pending`, `running`, `done`, `kept`, `skipped`, `partial`, `failed` or `interrupted`.
    pub status: String,
    /// Seconds that its last run took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Why it was skipped or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceReport {
    /// The service's name.
    pub name: String,
    /// How it is provided.
    pub kind: ServiceKind,
    /// True when it is built, running and ready.
    pub ready: bool,
    /// Where it answers, as a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Its process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// Why it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether what runs was made from the files on disk; none while nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
    /// Its resources.
    pub resources: Vec<ResourceStatus>,
}

/// The controller of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControllerReport {
    /// `embedded` or `tilt`.
    pub kind: String,
    /// `running`, `stopped`, `dead` (its lock is free though it was never stopped) or `unreachable`.
    pub state: String,
    /// Its process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The result of `pause`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PauseReport {
    /// The session's name.
    pub session: String,
    /// Processes that were ended.
    pub stopped: u32,
    /// Ports that are free again.
    pub released: Vec<u16>,
}

/// One line of a service's log, as `logs` prints it and the controller's index stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// When, RFC 3339 in UTC: the line's own time if it has one, else when it was read.
    pub time: String,
    /// The service.
    pub service: String,
    /// The resource, `<svc>` or `<svc>-live-binary`.
    pub resource: String,
    /// `debug`, `info`, `warn` or `error`, if the line says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The trace id that one of the configured keys of the line holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The line, without its end and without control characters.
    pub text: String,
}

/// What happens while a long command runs; one JSON line each under `--json=lines`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "event")]
pub enum Progress {
    /// A state began, ended or was kept.
    State(StateReport),
    /// A resource changed.
    Resource(Box<ResourceStatus>),
    /// A stage of a destroy ended.
    Stage(StageReport),
    /// Something a person should read once.
    Note {
        /// A whole sentence.
        text: String,
    },
}
