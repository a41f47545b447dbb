//! All services of a session: manifests, patches, files of mounts, secret files and the report.

use std::collections::BTreeMap;

use cp9_model::Diagnostic;
use cp9_model::graph::{ServiceKind, ServiceNode};
use serde_json::Value;

use super::context::Context;
use super::names::Names;
use super::objects::Objects;
use super::parts::{self, Parts};
use super::report::{self, ContextReport, ReportDelivery, ReportScope, ServiceContext};
use super::service::{self, Translated};
use super::stub::{self, Stub};
use super::{Rendered, Session, redact, workload};
use crate::argo::ServiceInput;
use crate::manifest::Manifest;
use crate::tree::FileTree;

/// Translates every service, or says all that is wrong.
pub fn translate(session: &Session<'_>) -> Result<Rendered, Vec<Diagnostic>> {
    let names = Names::of(session);
    let mut problems = Vec::new();
    let mut rendered = Rendered {
        inputs: FileTree::new(),
        secret_files: BTreeMap::new(),
        workloads: BTreeMap::new(),
        report: empty_report(session),
    };
    for node in &session.graph.services {
        if node.kind == ServiceKind::Stub {
            match stub::translate_stub(session, node) {
                Ok(stub) => add_stub(&mut rendered, node, stub),
                Err(found) => problems.push(*found),
            }
            continue;
        }
        let Some(input) = session
            .inputs
            .iter()
            .find(|input| input.service == node.name)
        else {
            rendered.report.services.push(without_input(node));
            continue;
        };
        match one(session, node, input, &names) {
            Ok((translated, context)) => add(&mut rendered, input, translated, context),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(rendered)
    } else {
        Err(problems)
    }
}

type One = (Translated, ServiceContext);

fn one(
    session: &Session<'_>,
    node: &ServiceNode,
    input: &ServiceInput,
    names: &Names,
) -> Result<One, Vec<Diagnostic>> {
    let run = workload::run(session.config, &node.name);
    let workload = workload::choose(input, run)?;
    let ports = workload::ports(input, &workload);
    let mut judged = parts::judge(input, &workload);
    let objects = Objects::new(session, input);
    let context = Context {
        session,
        node,
        input,
        run,
        workload,
        ports,
        objects,
    };
    let translated = service::translate(&context, names);
    let refused = std::mem::take(&mut judged.problems);
    match translated {
        Ok(translated) if refused.is_empty() => {
            let report = report_of(&context, judged, &translated);
            Ok((translated, report))
        }
        Ok(_) => Err(refused),
        Err(found) => Err(refused.into_iter().chain(found).collect()),
    }
}

fn add(
    rendered: &mut Rendered,
    input: &ServiceInput,
    translated: Translated,
    report: ServiceContext,
) {
    let service = &input.service;
    for (index, manifest) in input.manifests.iter().enumerate() {
        let path = format!("app-delivery/{service}/{}", file_name(index, manifest));
        rendered
            .inputs
            .insert(path.into(), yaml(&redact::manifest(manifest)));
    }
    rendered.inputs.insert(
        format!("patches/{service}/patch.yaml").into(),
        yaml(&translated.patch),
    );
    rendered.inputs.extend(translated.files);
    if let Some(content) = translated.secret_file {
        rendered.secret_files.insert(service.clone(), content);
    }
    rendered
        .workloads
        .insert(service.clone(), translated.workload);
    rendered.report.services.push(report);
}

fn add_stub(rendered: &mut Rendered, node: &ServiceNode, stub: Stub) {
    rendered.inputs.extend(stub.files);
    rendered.workloads.insert(node.name.clone(), stub.workload);
    rendered.report.services.push(stub.report);
}

/// `<nnn>-<kind>-<name>.yaml`, with nothing in it that a file system could take amiss.
fn file_name(index: usize, manifest: &Manifest) -> String {
    let clean = |text: &str| -> String {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || ".-_".contains(c) {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        };
        text.chars().take(80).map(safe).collect()
    };
    format!(
        "{index:03}-{}-{}.yaml",
        clean(manifest.kind()),
        clean(manifest.name())
    )
}

/// A value as YAML that kubectl reads back as it was.
pub(crate) fn yaml(value: &Value) -> Vec<u8> {
    let text = serde_saphyr::to_string(value);
    text.unwrap_or_else(|_| serde_json::to_string_pretty(value).unwrap_or_default())
        .into_bytes()
}

fn empty_report(session: &Session<'_>) -> ContextReport {
    let delivery = session.config.app_delivery.as_ref();
    ContextReport {
        api_version: report::API_VERSION.to_owned(),
        scope: ReportScope {
            owner: session.scope.owner.to_string(),
            session: session.scope.session.to_string(),
            account: session.aws.map(|aws| aws.account.clone()),
            role: session.aws.map(|aws| aws.principal.clone()),
        },
        app_delivery: ReportDelivery {
            repo: delivery
                .map(|delivery| delivery.repo.clone())
                .unwrap_or_default(),
            git_ref: delivery.and_then(|delivery| delivery.git_ref.clone()),
            env: delivery
                .map(|delivery| delivery.env.clone())
                .unwrap_or_default(),
        },
        services: Vec::new(),
    }
}

/// What is known of a service without manifests.
pub(super) fn without_input(node: &ServiceNode) -> ServiceContext {
    ServiceContext {
        name: node.name.to_string(),
        kind: node.kind,
        app: node.app.clone(),
        repo_url: None,
        target_revision: None,
        resource: node.name.to_string(),
        input: if node.kind == ServiceKind::Stub {
            "stub"
        } else {
            "rendered-yaml"
        }
        .to_owned(),
        stub: None,
        workload: None,
        container: None,
        files: Vec::new(),
        skipped_files: Vec::new(),
        overrides: Vec::new(),
        terraform_outputs: Vec::new(),
        rewrites: Vec::new(),
        not_rewritten: Vec::new(),
        not_applied: Vec::new(),
        ignored: Vec::new(),
        notes: Vec::new(),
        fallback: "none".to_owned(),
    }
}

fn report_of(context: &Context<'_>, parts: Parts, translated: &Translated) -> ServiceContext {
    let mut files: Vec<String> = context
        .input
        .manifests
        .iter()
        .map(|manifest| manifest.file.to_string())
        .collect();
    files.dedup();
    let notes = &translated.notes;
    let mut known = parts.ignored;
    known.extend(ignored_words(context));
    known.sort();
    known.dedup();
    let unused = context.workload.ignore.unused(&known);
    let mut remarks = notes.remarks.clone();
    remarks.extend(
        unused
            .iter()
            .map(|pattern| format!("`{pattern}` in `run.ignore` covers nothing")),
    );
    ServiceContext {
        repo_url: context.input.repo_url.clone(),
        target_revision: context.input.revision.clone(),
        app: Some(context.input.app.clone()),
        workload: Some(context.workload.manifest.word()),
        container: Some(context.workload.name.to_owned()),
        files,
        skipped_files: context
            .input
            .skipped
            .iter()
            .map(ToString::to_string)
            .collect(),
        overrides: context.input.overrides.clone(),
        rewrites: notes.rewrites.clone(),
        not_rewritten: notes.left.clone(),
        not_applied: parts.not_applied,
        ignored: known,
        notes: remarks,
        ..without_input(context.node)
    }
}

/// Ports, volumes and probes that `run.ignore` leaves out, beside the refused parts.
fn ignored_words(context: &Context<'_>) -> Vec<String> {
    let container = context.workload.container;
    let mut words: Vec<String> = Vec::new();
    for port in container["ports"].as_array().into_iter().flatten() {
        words.extend(port["name"].as_str().map(|name| format!("ports/{name}")));
        words.push(format!("ports/{}", port["containerPort"]));
    }
    for mount in container["volumeMounts"].as_array().into_iter().flatten() {
        words.extend(mount["name"].as_str().map(|name| format!("volumes/{name}")));
    }
    for kind in ["readiness", "liveness", "startup"] {
        if !container[format!("{kind}Probe")].is_null() {
            words.push(format!("probes/{kind}"));
        }
    }
    words.retain(|word| context.workload.ignore.covers(word));
    words
}

/// Where the service answers, the port of its Service first.
pub(crate) fn links(context: &Context<'_>, allocated: &BTreeMap<u16, u16>) -> Vec<String> {
    let front = workload::services(context.input, &context.workload);
    let first = front
        .iter()
        .flat_map(|service| &service.ports)
        .find_map(|port| port.target);
    let mut ports: Vec<&workload::ContainerPort> =
        context.ports.iter().filter(|port| port.tcp).collect();
    ports.sort_by_key(|port| Some(port.number) != first);
    let link = |port: &workload::ContainerPort| {
        let host = allocated.get(&port.number)?;
        let scheme = scheme(port.name.as_deref().unwrap_or_default());
        Some(format!("{scheme}://127.0.0.1:{host}"))
    };
    ports.into_iter().filter_map(link).collect()
}

/// The scheme that a port's name promises; HTTP if it promises nothing.
fn scheme(name: &str) -> &'static str {
    let other = [
        "amqp", "kafka", "memcache", "mongo", "mysql", "nats", "postgres", "redis", "tcp",
    ];
    match name {
        _ if name.starts_with("grpc") => "grpc",
        _ if name.starts_with("https") => "https",
        _ if other.iter().any(|word| name.starts_with(word)) => "tcp",
        _ => "http",
    }
}
