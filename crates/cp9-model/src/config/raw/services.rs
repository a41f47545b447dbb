//! The services: source, live, stub.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The services, each in exactly one of the three.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Services {
    /// Built from a local checkout, watched and redeployed.
    pub(crate) source: Option<IndexMap<String, Source>>,
    /// The real service from declared manifests.
    pub(crate) live: Option<IndexMap<String, Live>>,
    /// Generated or recording replacements.
    pub(crate) stub: Option<IndexMap<String, Option<Stub>>>,
}

/// A service built from source.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// A folder, relative to this file, used as it stands; or a git URL.
    pub(crate) repo: String,
    /// The git branch, tag or commit that is meant.
    #[serde(rename = "ref")]
    pub(crate) git_ref: Option<String>,
    /// How it is built.
    pub(crate) build: Build,
    /// Its application object.
    pub(crate) app: App,
    /// Manifests laid over the rendered ones.
    pub(crate) overrides: Option<Vec<String>>,
    /// How it runs as a process.
    pub(crate) run: Option<Run>,
    /// Services that must have been ready once before its first start.
    pub(crate) needs: Option<Vec<String>>,
}

/// How a service is built: `main` or `command`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    /// The entry source file inside the repository, such as `cmd/api/main.go` or `src/main.rs`.
    pub(crate) main: Option<String>,
    /// The build command as a list of arguments; `${output}` is where the binary must land.
    pub(crate) command: Option<Vec<String>>,
    /// Files whose change starts no build, in gitignore syntax.
    pub(crate) ignore: Option<Vec<String>>,
}

/// A service's application object.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct App {
    /// The object's name, where it differs from the service's.
    pub(crate) name: Option<String>,
    /// The registry file inside the app-delivery tree, such as `registry/api.yaml`.
    pub(crate) registry: String,
    /// The environment; that of `appDelivery.env` by default.
    pub(crate) env: Option<String>,
}

/// A real service as declared.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Live {
    /// Its application object.
    pub(crate) app: App,
    /// Manifests laid over the rendered ones.
    pub(crate) overrides: Option<Vec<String>>,
    /// How it runs as a process.
    pub(crate) run: Option<Run>,
    /// Services that must have been ready once before its first start.
    pub(crate) needs: Option<Vec<String>>,
}

/// A replaced service: one of `swagger`, `proto` and `kind`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stub {
    /// An `OpenAPI` document to answer from.
    pub(crate) swagger: Option<String>,
    /// A proto file to answer from.
    pub(crate) proto: Option<String>,
    /// A built-in stub.
    pub(crate) kind: Option<StubKind>,
    /// Where a recorder writes, one JSON object a line.
    pub(crate) output: Option<String>,
}

/// A built-in stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StubKind {
    /// Records metering payloads.
    MeteringRecorder,
    /// Records invoices.
    BillingRecorder,
    /// Answers everything with success.
    Permissive,
}

/// How a service runs on a `process` host, in place of its container.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The command as a list of arguments. For a service built from source it holds `${binary}`, the path of
    /// the built binary: first if it is the process itself, else where another program gets it.
    pub(crate) command: Option<Vec<String>>,
    /// The working directory, relative to this file.
    pub(crate) workdir: Option<String>,
    /// Extra environment variables; they win over the manifest's.
    pub(crate) env: Option<IndexMap<String, String>>,
    /// Which environment variable tells the service a named port.
    pub(crate) ports: Option<IndexMap<String, String>>,
    /// The container that is the service, where the pod has several.
    pub(crate) container: Option<String>,
    /// Parts of the manifests to leave out, such as `initContainers/migrate`.
    pub(crate) ignore: Option<Vec<String>>,
}
