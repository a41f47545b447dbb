//! Terraform, app delivery and the start of the controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The substrate's Terraform root.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terraform {
    /// A folder, relative to this file, or a git URL.
    pub(crate) repo: String,
    /// The git branch, tag or commit.
    #[serde(rename = "ref")]
    pub(crate) git_ref: Option<String>,
    /// The root module inside the repository.
    pub(crate) path: String,
    /// The persona's variables inside the repository.
    pub(crate) var_file: Option<String>,
    /// Where Terraform keeps its state.
    #[serde(default)]
    pub(crate) state: TerraformState,
}

/// Where Terraform keeps its state.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TerraformState {
    /// In the session's folder.
    #[default]
    Local,
}

/// Where the app environments come from.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppDelivery {
    /// A folder, relative to this file, or a git URL.
    pub(crate) repo: String,
    /// The git branch, tag or commit.
    #[serde(rename = "ref")]
    pub(crate) git_ref: Option<String>,
    /// The environment, a folder name of the tree.
    pub(crate) env: String,
}

/// How the controller is started.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tilt {
    /// What `up` does with the controller.
    #[serde(default)]
    pub(crate) mode: TiltMode,
    /// Tilt's port on this machine.
    #[serde(default = "port")]
    #[schemars(range(min = 1024, max = 65535))]
    pub(crate) port: u16,
    /// A Tiltfile that is loaded last into the generated one.
    pub(crate) include: Option<String>,
}

impl Default for Tilt {
    fn default() -> Self {
        Self {
            mode: TiltMode::default(),
            port: port(),
            include: None,
        }
    }
}

fn port() -> u16 {
    10350
}

/// What `up` does with the controller.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TiltMode {
    /// Starts it and leaves it running.
    #[default]
    Up,
    /// Fails fast, for gates.
    Ci,
    /// Prints the command that starts it.
    GenerateOnly,
}
