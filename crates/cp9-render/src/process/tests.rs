//! Translation of whole services.

mod aws;
mod environment;
mod parts;
mod ports;
mod probes;
mod stubs;
mod volumes;
mod yaml;

use std::collections::BTreeMap;

use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::graph::ServiceGraph;
use cp9_model::host::HostFacts;
use cp9_model::{Diagnostic, Owner, Scope};
use serde_json::{Value, json};

use super::{AwsScope, ProcessWorkload, Rendered, Session, ports_wanted, translate};
use crate::argo;
use crate::graph;
use crate::tree::AppTree;

/// A session file with the given services.
pub(crate) fn config(services: &Value) -> ResolvedConfig {
    let value = json!({
        "apiVersion": "cp9.tidbcloud.com/v1alpha2",
        "kind": "Session",
        "name": "demo",
        "file": "/w/cp9.yaml",
        "controller": "embedded",
        "host": {"mode": "process"},
        "target": {"cloud": "local"},
        "appDelivery": {"repo": "/w/app-delivery", "env": "dev"},
        "tilt": {"mode": "up", "port": 10350},
        "services": services,
        "source_build_services": [],
        "retry": {"total": 5, "on_budget_exceeded": "abort"},
    });
    serde_json::from_value(value).expect("a resolved session file")
}

/// A session of source services with their manifests.
#[derive(Default)]
pub(crate) struct Case {
    services: serde_json::Map<String, Value>,
    stubs: serde_json::Map<String, Value>,
    tree: AppTree,
    secrets: BTreeMap<cp9_model::ServiceName, Vec<(String, String)>>,
    definitions: BTreeMap<cp9_model::ServiceName, Vec<u8>>,
    aws: Option<AwsScope>,
}

impl Case {
    /// Adds a source service with its `run` block and manifests.
    pub(crate) fn source(mut self, name: &str, run: Value, manifests: &str) -> Self {
        let registry = format!("registry/{name}.yaml");
        let mut service = json!({
            "repo": format!("/w/src/{name}"),
            "build": {"main": "src/main.rs"},
            "app": {"name": name, "registry": registry, "env": "dev"},
        });
        service["run"] = run;
        self.services.insert(name.to_owned(), service);
        let application = json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": name},
            "spec": {"source": {"path": format!("envs/dev/{name}")}, "destination": {"namespace": "shop"}},
        });
        self.tree
            .files
            .insert(registry.into(), application.to_string().into_bytes());
        self.tree.files.insert(
            format!("envs/dev/{name}/all.yaml").into(),
            manifests.as_bytes().to_vec(),
        );
        self
    }

    /// Gives a service secrets of the session file.
    pub(crate) fn secret(mut self, name: &str, key: &str, value: &str) -> Self {
        let service = name.parse().expect("a service name");
        self.secrets
            .entry(service)
            .or_default()
            .push((key.to_owned(), value.to_owned()));
        self
    }

    /// Adds a stub as the resolved session file has it.
    pub(crate) fn stub(mut self, name: &str, stub: Value) -> Self {
        self.stubs.insert(name.to_owned(), stub);
        self
    }

    /// Lets the session write to AWS.
    pub(crate) fn on_aws(mut self) -> Self {
        self.aws = Some(AwsScope {
            account: "123456789012".into(),
            region: "us-west-2".into(),
            principal: "arn:aws:sts::123456789012:assumed-role/dev/alice@example.com".into(),
            variables: vec![("AWS_ENDPOINT_URL".into(), "http://127.0.0.1:5000".into())],
        });
        self
    }

    /// Gives a stub its definition.
    pub(crate) fn definition(mut self, name: &str, text: &str) -> Self {
        let service = name.parse().expect("a service name");
        self.definitions.insert(service, text.as_bytes().to_vec());
        self
    }

    /// Gives a service one more override file, `/w/<file>`.
    pub(crate) fn overrides(mut self, name: &str, file: &str, text: &str) -> Self {
        let path = format!("/w/{file}");
        let known = self.services[name]["overrides"].take();
        let mut list = known.as_array().cloned().unwrap_or_default();
        list.push(path.clone().into());
        self.services[name]["overrides"] = list.into();
        let bytes = text.as_bytes().to_vec();
        self.tree.overrides.insert(path.into(), bytes);
        self
    }

    /// The session file.
    pub(crate) fn config(&self) -> ResolvedConfig {
        config(&json!({"source": self.services, "stub": self.stubs}))
    }

    /// The service graph.
    pub(crate) fn graph(&self) -> ServiceGraph {
        let config = self.config();
        let inputs = argo::load(&config, &self.tree).expect("applications");
        graph::build(&config, &inputs).expect("a graph")
    }

    /// Translates the session.
    pub(crate) fn run(&self) -> Result<Rendered, Vec<Diagnostic>> {
        let config = self.config();
        let inputs = argo::load(&config, &self.tree)?;
        let graph = graph::build(&config, &inputs)?;
        let mut ports: BTreeMap<String, BTreeMap<u16, u16>> = BTreeMap::new();
        for (port, wanted) in (20_001..).zip(ports_wanted(&inputs, &config)) {
            ports
                .entry(wanted.service)
                .or_default()
                .insert(wanted.container, port);
        }
        let host = HostFacts {
            api_version: "cp9.host/v1".to_owned(),
            mode: "process".to_owned(),
            id: "f00d".to_owned(),
            socket: "/w/.cp9/demo/controller.sock".to_owned(),
            ports,
        };
        let scope = Scope {
            owner: Owner::new("alice@example.com"),
            session: "demo".parse().expect("a session name"),
            id: "f00d".to_owned(),
        };
        translate(&Session {
            config: &config,
            graph: &graph,
            inputs: &inputs,
            host: &host,
            scope: &scope,
            secrets: &self.secrets,
            definitions: &self.definitions,
            folder: "/w/.cp9/demo".into(),
            aws: self.aws.as_ref(),
        })
    }

    /// The result, which must be good.
    pub(crate) fn good(&self) -> Rendered {
        self.run().unwrap_or_else(|found| panic!("{found:#?}"))
    }

    /// The only problem, which must be there.
    pub(crate) fn problem(&self) -> Diagnostic {
        let found = self.run().expect_err("a problem");
        assert_eq!(found.len(), 1, "{found:#?}");
        found.into_iter().next().expect("one problem")
    }
}

/// One service `api` with the given container fields, pod fields and further objects.
pub(crate) fn api(run: Value, container: &str, pod: &str, more: &str) -> Case {
    Case::default().source("api", run, &deployment(container, pod, more))
}

/// A Deployment `api`; `container` and `pod` are flow mappings without braces.
pub(crate) fn deployment(container: &str, pod: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: api}}
spec:
  template:
    metadata: {{labels: {{app: api}}}}
    spec:
      {{containers: [{{name: api, command: [/app/api], {container}}}], {pod}}}
---
{more}"
    )
}

impl Rendered {
    /// The process of a service.
    pub(crate) fn of(&self, service: &str) -> &ProcessWorkload {
        &self.workloads[&service.parse().expect("a service name")]
    }

    /// The secret file of a service.
    pub(crate) fn secret_file(&self, service: &str) -> &str {
        self.secret_files
            .get(&service.parse().expect("a service name"))
            .map_or("", String::as_str)
    }

    /// A file below `tilt/inputs`.
    pub(crate) fn input(&self, path: &str) -> &str {
        let bytes = self
            .inputs
            .get(camino::Utf8Path::new(path))
            .unwrap_or_else(|| panic!("no {path}: {self:?}"));
        std::str::from_utf8(bytes).expect("text")
    }
}
