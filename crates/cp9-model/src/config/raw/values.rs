//! Secrets, retry budgets, databases, registries, trace ids.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Secret inputs of a service; inline values win over the file.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretInputs {
    /// A file of `KEY=VALUE` lines.
    pub(crate) env_file: Option<String>,
    /// Values by variable; they never leave this file but for the service itself.
    pub(crate) values: Option<IndexMap<String, String>>,
}

impl std::fmt::Debug for SecretInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretInputs")
            .field("env_file", &self.env_file)
            .finish_non_exhaustive()
    }
}

macro_rules! retry {
    ($($state:ident),*) => {
        /// Retry budgets. A lifecycle state is tried 3 times unless set here.
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Retry {
            /// Retries in the whole run; 5 by default.
            #[schemars(range(max = 100))]
            pub(crate) total: Option<u32>,
            /// What happens when a budget is spent.
            #[serde(default)]
            pub(crate) on_budget_exceeded: BudgetExceeded,
            $(
                #[doc = concat!("Attempts of `", stringify!($state), "`.")]
                #[schemars(range(min = 1, max = 100))]
                pub(crate) $state: Option<u32>,
            )*
        }

        impl Retry {
            /// The attempts that are set, by state.
            pub(crate) fn states(&self) -> impl Iterator<Item = (&'static str, u32)> {
                [$((stringify!($state), self.$state)),*]
                    .into_iter()
                    .filter_map(|(state, attempts)| Some((state, attempts?)))
            }
        }
    };
}

retry! {
    preflight, config_load, owner_identity_ready, iam_ready, substrate_init, substrate_plan,
    substrate_apply, remote_host_ready, host_ready, network_ready, service_plan, metadb_seed,
    context_materialize, tiltfile_generate, tilt_ready, session_ready
}

/// What happens when a budget is spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BudgetExceeded {
    /// The run ends.
    #[default]
    Abort,
    /// A draft pull request carries state and logs, in your own repository only.
    DraftPr,
}

/// Schema and data of the service databases.
#[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metadb {
    /// How much is dumped from the source.
    #[serde(default)]
    pub(crate) seed: Seed,
    /// A changed token drops the databases and applies the dump once more.
    pub(crate) reset: Option<String>,
    /// Read-only access to the source.
    pub(crate) staging_access: Option<StagingAccess>,
    /// A database server that cp9 runs itself on a `process` host.
    pub(crate) local: Option<LocalServer>,
}

/// How much is dumped from the source.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Seed {
    /// Nothing.
    None,
    /// Tables without rows.
    #[default]
    Schema,
    /// The declared configuration tables with their rows.
    Config,
    /// Everything.
    Full,
}

/// Read-only access to the source of the databases.
#[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StagingAccess {
    /// The AWS profile of the source's account.
    pub(crate) profile: Option<String>,
    /// The role that is assumed in the source's account.
    pub(crate) role_arn: Option<String>,
    /// The Kubernetes Secret that holds the connection string.
    pub(crate) dsn_secret: Option<SecretKey>,
}

/// A key of a Kubernetes Secret.
#[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretKey {
    /// The Secret's namespace.
    pub(crate) namespace: Option<String>,
    /// The Secret's name.
    pub(crate) name: String,
    /// The key inside it.
    pub(crate) key: String,
}

/// A database server that cp9 runs itself.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LocalServer {
    /// The server `mariadbd`.
    Mariadbd,
}

/// Credentials of an image registry: one of `docker_config` and `ecr`.
#[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registry {
    /// A Docker configuration file that holds the login.
    pub(crate) docker_config: Option<String>,
    /// Log in to ECR by the proven identity.
    pub(crate) ecr: Option<bool>,
}

/// Where trace ids stand, for `cp9 logs --trace-id`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trace {
    /// The HTTP header that carries the trace id; `X-Trace-Id` by default.
    #[schemars(regex(pattern = r"^[A-Za-z0-9-]+$"))]
    pub(crate) header: Option<String>,
    /// The keys of log lines that hold the trace id, in any case; `trace_id`, `trace-id`, `traceId`
    /// and the header by default.
    #[schemars(inner(regex(pattern = r"^[A-Za-z0-9_.-]+$")))]
    pub(crate) keys: Option<Vec<String>>,
}
