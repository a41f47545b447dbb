//! The private protocol between cp9 and its embedded controller: one JSON request a line over the
//! session's Unix socket, answered by one JSON reply a line (`watch` by many).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version both sides must share.
pub const PROTOCOL: u32 = 2;

/// What is asked of the controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "op")]
pub enum Request {
    /// Who are you?
    Hello,
    /// The state of every resource now.
    Status,
    /// The state now and after every change, until the connection ends.
    Watch,
    /// Build or restart this resource.
    Trigger {
        /// The resource's name.
        resource: String,
    },
    /// Read `dev-plan.json` again and change only what differs.
    Reload,
    /// Credentials of the session's cloud identity.
    Credentials,
    /// Stop every child, answer, end.
    Stop,
}

/// What the controller answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "reply")]
pub enum Reply {
    /// To `hello`, and to `reload` when the new plan is in force.
    Hello(Hello),
    /// To `status` and `watch`.
    Status(ControllerStatus),
    /// To `trigger`: the work has begun, or waits for what it depends on.
    Begun {
        /// The build or start that answers the trigger; see `Lineage::ended`.
        number: u64,
    },
    /// To `credentials`.
    Credentials(Credentials),
    /// To `credentials`: there are none to give.
    Withheld(Withheld),
    /// To `stop`.
    Done,
    /// The request failed.
    Error {
        /// Why.
        message: String,
    },
}

/// Credentials as they go over the private socket to a process of the session. They are never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The id of the key.
    pub access_key: String,
    /// The key.
    pub secret_key: String,
    /// What goes with both.
    pub session_token: String,
    /// When they end, or when to ask again, RFC 3339.
    pub expiration: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "*** until {}", self.expiration)
    }
}

/// Why there are no credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// What was wrong, with its causes.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// True if it may pass by itself.
    pub transient: bool,
}

/// Who the controller is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The id of the session folder it serves.
    pub id: String,
    /// Its protocol version.
    pub protocol: u32,
    /// The digest of the plan in force.
    pub plan_digest: String,
    /// Its process id.
    pub pid: u32,
    /// The version of the cp9 that serves; empty where it does not say.
    #[serde(default)]
    pub version: String,
    /// True once it was told to stop: it still answers, and is gone soon.
    #[serde(default)]
    pub stopping: bool,
}

/// The state of all resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerStatus {
    /// Who answers.
    pub hello: Hello,
    /// Every resource of the plan, in its order.
    pub resources: Vec<ResourceStatus>,
    /// What a person should know about the controller itself, such as a fallback it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The state of one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceStatus {
    /// The resource's name.
    pub name: String,
    /// The service it belongs to.
    pub service: String,
    /// What it is doing.
    pub phase: Phase,
    /// True when it is as it should be now: built, or running and ready.
    pub ready: bool,
    /// True once it was ready or failed since this controller took it over.
    pub verdict: bool,
    /// Why it is not ready: the compiler's message, the probe's answer, the exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The child's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Restarts after a crash, counted since the last stable run.
    pub restarts: u32,
    /// Builds or starts done so far by this controller.
    pub runs: u32,
    /// The hash of the binary that was built last (build) or is running (serve).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// The digest of the watched files that the last finished build or start was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Milliseconds that the last build child ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_millis: Option<u64>,
    /// What it is made from, and how far it has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<Lineage>,
}

/// What a resource is made from, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lineage {
    /// Number of the newest build that ended by itself, or of the newest start.
    pub ended: u64,
    /// Digest of the watched files as they are now; of what a process is started from if it
    /// watches none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Digest of the watched files that the newest product, or the running process, was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<String>,
    /// True when the last build ended well and did not replace its output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreplaced: bool,
}

/// What a resource is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Waits for what it depends on, or for a person (manual trigger).
    Waiting,
    /// A build runs.
    Building,
    /// Built.
    Built,
    /// Started, not ready yet.
    Starting,
    /// Running and ready.
    Running,
    /// Running, and the probe fails.
    Unready,
    /// The build failed.
    Failed,
    /// Crashed; waits for its next start.
    Backoff,
    /// Crashed too often; waits for the next build, deploy or up.
    Quiescent,
    /// Being stopped.
    Stopping,
    /// Stopped.
    Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_sent_and_never_shown() {
        let reply = Reply::Credentials(Credentials {
            access_key: "ASIAX".into(),
            secret_key: "hunter22".into(),
            session_token: "token".into(),
            expiration: "2026-12-01T12:00:00Z".into(),
        });
        let sent = serde_json::to_string(&reply).expect("plain data");
        assert!(
            sent.starts_with(r#"{"reply":"credentials","access_key":"ASIAX""#),
            "{sent}"
        );
        assert_eq!(
            serde_json::from_str::<Reply>(&sent).expect("read back"),
            reply
        );
        assert_eq!(
            format!("{reply:?}"),
            "Credentials(*** until 2026-12-01T12:00:00Z)"
        );
    }
}
