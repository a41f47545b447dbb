//! Which `Deployment` or `StatefulSet`, and which of its containers, is the service; and the ports it
//! is asked to listen on.

use std::collections::BTreeSet;

use cp9_model::config::resolved::{ResolvedConfig, Run};
use cp9_model::{Diagnostic, ServiceName};
use serde_json::Value;

use super::ignore::Ignore;
use crate::argo::ServiceInput;
use crate::manifest::Manifest;
use crate::nearest::quoted;
use crate::problem;

static NO_RUN: Run = Run {
    command: None,
    workdir: None,
    env: std::collections::BTreeMap::new(),
    ports: std::collections::BTreeMap::new(),
    container: None,
    ignore: Vec::new(),
};

/// The `run` block of a service; an empty one for a stub.
pub(crate) fn run<'a>(config: &'a ResolvedConfig, service: &ServiceName) -> &'a Run {
    let services = &config.services;
    let source = services.source.get(service).map(|source| &source.run);
    source
        .or_else(|| services.live.get(service).map(|live| &live.run))
        .unwrap_or(&NO_RUN)
}

/// The workload and the container that are the service.
#[derive(Debug, Clone)]
pub(crate) struct Workload<'a> {
    /// The `Deployment` or `StatefulSet`.
    pub manifest: &'a Manifest,
    /// The JSON pointer of the container.
    pub at: String,
    /// The container.
    pub container: &'a Value,
    /// The container's name.
    pub name: &'a str,
    /// What the session file leaves out.
    pub ignore: Ignore<'a>,
}

/// A port that the container listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainerPort {
    /// Its number.
    pub number: u16,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// True unless it is UDP or SCTP.
    pub tcp: bool,
    /// Where the manifests ask for it.
    pub pointer: String,
}

/// A Service in front of the workload.
#[derive(Debug, Clone)]
pub(crate) struct FrontService {
    /// Its name.
    pub name: String,
    /// Its own namespace, if the manifest has one.
    pub namespace: Option<String>,
    /// Its ports.
    pub ports: Vec<ServicePort>,
}

/// A port of a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServicePort {
    /// Its number.
    pub port: u16,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The container port it leads to, if the container has it.
    pub target: Option<u16>,
}

/// Pod template of a workload.
pub(crate) const TEMPLATE: &str = "/spec/template";
/// Pod spec of a workload.
pub(crate) const POD: &str = "/spec/template/spec";

/// True for a kind that can become a process.
pub(crate) fn is_workload(manifest: &Manifest) -> bool {
    manifest.group() == "apps"
        && matches!(manifest.kind(), "Deployment" | "StatefulSet")
        && !is_hook(manifest)
}

/// True when Argo CD would run the object as a hook.
pub(crate) fn is_hook(manifest: &Manifest) -> bool {
    ["argocd.argoproj.io~1hook", "helm.sh~1hook"]
        .iter()
        .filter_map(|key| manifest.text(&format!("/metadata/annotations/{key}")))
        .any(|hook| hook != "crd-install")
}

/// Finds the workload and the container of a service.
pub(crate) fn choose<'a>(
    input: &'a ServiceInput,
    run: &'a Run,
) -> Result<Workload<'a>, Vec<Diagnostic>> {
    let ignore = Ignore::new(&run.ignore);
    let manifest = choose_workload(input, &ignore)?;
    let containers = manifest.list(&format!("{POD}/containers"));
    let index = choose_container(input, run, manifest, containers)?;
    let container = &containers[index];
    let name = container
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(Workload {
        manifest,
        at: format!("{POD}/containers/{index}"),
        container,
        name,
        ignore,
    })
}

fn choose_workload<'a>(
    input: &'a ServiceInput,
    ignore: &Ignore<'_>,
) -> Result<&'a Manifest, Vec<Diagnostic>> {
    let all: Vec<&Manifest> = input
        .manifests
        .iter()
        .filter(|manifest| is_workload(manifest) && !ignore.covers(&manifest.word()))
        .collect();
    let named = || {
        all.iter()
            .find(|manifest| manifest.name() == input.service.as_str())
    };
    match all.as_slice() {
        [only] => Ok(only),
        [] => Err(vec![no_workload(input)]),
        [first, ..] => Ok(named().unwrap_or(first)),
    }
}

fn no_workload(input: &ServiceInput) -> Diagnostic {
    let kinds: BTreeSet<&str> = input.manifests.iter().map(Manifest::kind).collect();
    problem::bare(
        problem::WORKLOAD,
        input.app.path.as_str(),
        "",
        format!(
            "app `{}` of service `{}` has no Deployment and no StatefulSet to run as a process",
            input.app.name, input.service
        ),
        format!(
            "kinds found: {}; add a Deployment, or take the service out of `services`",
            quoted(kinds)
        ),
    )
}

fn choose_container(
    input: &ServiceInput,
    run: &Run,
    manifest: &Manifest,
    containers: &[Value],
) -> Result<usize, Vec<Diagnostic>> {
    let names: Vec<&str> = containers
        .iter()
        .map(|container| container["name"].as_str().unwrap_or_default())
        .collect();
    let at = |name: &str| names.iter().position(|known| *known == name);
    let wrong = |message: String, help: String| {
        let at = format!("{POD}/containers");
        Err(vec![manifest.problem(
            problem::WORKLOAD,
            &at,
            message,
            help,
        )])
    };
    let known = quoted(names.iter().copied());
    let (service, word) = (&input.service, manifest.word());
    if let Some(wanted) = &run.container {
        let help = format!("set `run.container` of service `{service}` to one of {known}");
        return at(wanted).map_or_else(
            || wrong(format!("{word} has no container `{wanted}`"), help),
            Ok,
        );
    }
    match (at(service.as_str()), names.len()) {
        (Some(index), _) => Ok(index),
        (None, 1) => Ok(0),
        (None, 0) => wrong(
            format!("{word} has no container"),
            "give it one under `spec.template.spec.containers`".to_owned(),
        ),
        _ => wrong(
            format!("none of the containers of {word} is named like service `{service}`"),
            format!("set `run.container` to one of {known}"),
        ),
    }
}

/// The Services whose selector matches the workload's pods.
pub(crate) fn services(input: &ServiceInput, workload: &Workload<'_>) -> Vec<FrontService> {
    let declared = declared_ports(workload);
    input
        .manifests
        .iter()
        .filter(|manifest| manifest.kind() == "Service" && manifest.group().is_empty())
        .filter(|manifest| selects(manifest, workload.manifest))
        .map(|manifest| FrontService {
            name: manifest.name().to_owned(),
            namespace: manifest.text("/metadata/namespace").map(str::to_owned),
            ports: manifest
                .list("/spec/ports")
                .iter()
                .filter_map(|port| service_port(port, &declared))
                .collect(),
        })
        .collect()
}

fn selects(service: &Manifest, workload: &Manifest) -> bool {
    let Some(selector) = service
        .value
        .pointer("/spec/selector")
        .and_then(Value::as_object)
    else {
        return false;
    };
    let labels = workload.value.pointer("/spec/template/metadata/labels");
    !selector.is_empty()
        && selector
            .iter()
            .all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}

fn service_port(port: &Value, declared: &[ContainerPort]) -> Option<ServicePort> {
    let number = as_port(&port["port"])?;
    let target = match &port["targetPort"] {
        Value::Null => Some(number),
        Value::String(name) => named(declared, name),
        other => as_port(other),
    };
    Some(ServicePort {
        port: number,
        name: port["name"].as_str().map(str::to_owned),
        target,
    })
}

/// The number of a named port; a number in quotes counts too, as in a probe.
pub(crate) fn named(ports: &[ContainerPort], name: &str) -> Option<u16> {
    let found = ports.iter().find(|port| port.name.as_deref() == Some(name));
    found.map(|port| port.number).or_else(|| name.parse().ok())
}

/// A port number from 1 to 65535.
pub(crate) fn as_port(value: &Value) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok().filter(|port| *port > 0)
}

fn declared_ports(workload: &Workload<'_>) -> Vec<ContainerPort> {
    let ports = workload
        .container
        .get("ports")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let mut known: Vec<ContainerPort> = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let Some(number) = as_port(&port["containerPort"]) else {
            continue;
        };
        if known.iter().any(|port| port.number == number) {
            continue;
        }
        let name = port["name"].as_str().map(str::to_owned);
        let tcp = port["protocol"]
            .as_str()
            .is_none_or(|protocol| protocol == "TCP");
        known.push(ContainerPort {
            number,
            name,
            tcp,
            pointer: format!("{}/ports/{index}", workload.at),
        });
    }
    known
}

/// Every port the process must listen on: those of the container, of the Services in front of it
/// and of its probes, without those the session file leaves out.
pub(crate) fn ports(input: &ServiceInput, workload: &Workload<'_>) -> Vec<ContainerPort> {
    let mut known = declared_ports(workload);
    let mut extra: BTreeSet<(u16, String)> = BTreeSet::new();
    for service in services(input, workload) {
        extra.extend(
            service
                .ports
                .iter()
                .filter_map(|port| Some((port.target?, workload.at.clone()))),
        );
    }
    for probe in ["readinessProbe", "livenessProbe", "startupProbe"] {
        for action in ["httpGet", "tcpSocket"] {
            let pointer = format!("{}/{probe}/{action}/port", workload.at);
            extra.extend(
                workload
                    .manifest
                    .value
                    .pointer(&pointer)
                    .and_then(as_port)
                    .map(|port| (port, pointer)),
            );
        }
    }
    for (number, pointer) in extra {
        if known.iter().all(|port| port.number != number) {
            known.push(ContainerPort {
                number,
                name: None,
                tcp: true,
                pointer,
            });
        }
    }
    known.retain(|port| {
        let word = |name: &str| format!("ports/{name}");
        let named = port
            .name
            .as_deref()
            .is_some_and(|name| workload.ignore.covers(&word(name)));
        !named && !workload.ignore.covers(&word(&port.number.to_string()))
    });
    known
}
