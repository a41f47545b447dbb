//! The dev plan of a session: what is built, run, watched and probed.

mod build;
mod cargo;
mod roots;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use camino::Utf8Path;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::{API_VERSION, DevPlan, Resource, ResourceKind, Trigger};
use cp9_model::graph::{ServiceGraph, ServiceKind, ServiceNode};
use cp9_model::{Diagnostic, ServiceName};
use indexmap::IndexMap;

use crate::process::stub::CP9;
use crate::process::{BINARY, ProcessWorkload, Rendered};
pub use cargo::{CargoTarget, cargo_target};
pub use roots::Roots;

/// The resource that builds a service.
pub fn build_name(service: &ServiceName) -> String {
    format!("{service}-live-binary")
}

/// Where the product of a build lands.
pub fn binary_path(service: &ServiceName) -> String {
    format!("${{session}}/.cp9-build/{service}/live/service")
}

/// Builds the plan. `cargo` has the Cargo.toml that governs a service's `build.main`, if one does.
pub fn build(
    config: &ResolvedConfig,
    graph: &ServiceGraph,
    rendered: &Rendered,
    roots: &Roots,
    cargo: &BTreeMap<ServiceName, Option<CargoTarget>>,
) -> Result<DevPlan, Vec<Diagnostic>> {
    let mut roots = roots::Table::new(roots);
    let mut resources = Vec::new();
    let mut problems = Vec::new();
    for node in &graph.services {
        let Some(workload) = rendered.workloads.get(&node.name) else {
            continue;
        };
        if node.kind == ServiceKind::Source {
            match build::resource(
                config,
                node,
                workload,
                cargo.get(&node.name).and_then(Option::as_ref),
                &roots,
            ) {
                Ok(resource) => resources.push(resource),
                Err(found) => problems.push(*found),
            }
        }
        resources.push(serve(config, node, workload, rendered, &mut roots));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(DevPlan {
        api_version: API_VERSION.to_owned(),
        session: config.name.to_string(),
        roots: roots.into_map(),
        resources,
    })
}

fn serve(
    config: &ResolvedConfig,
    node: &ServiceNode,
    workload: &ProcessWorkload,
    rendered: &Rendered,
    roots: &mut roots::Table,
) -> Resource {
    let source = node.kind == ServiceKind::Source;
    let cwd = roots.folder(&node.name, &workload.cwd);
    let binary = binary_path(&node.name);
    let argv = argv(config, node, workload, roots);
    let env = workload
        .env
        .iter()
        .map(|(name, value)| (name.clone(), roots.text(value)));
    let mut deps: Vec<String> = if source {
        vec![build_name(&node.name)]
    } else {
        Vec::new()
    };
    let needs = node
        .needs
        .iter()
        .filter(|need| rendered.workloads.contains_key(need));
    deps.extend(needs.map(ToString::to_string));
    Resource {
        name: node.name.to_string(),
        service: node.name.to_string(),
        kind: ResourceKind::Serve,
        // A process that is not the binary itself still has to start anew with each build.
        watch: if source && !workload.built {
            vec![binary.clone()]
        } else {
            Vec::new()
        },
        ignore: Vec::new(),
        argv,
        cwd,
        env: env.collect::<IndexMap<_, _>>(),
        secrets: workload.secrets.clone(),
        binary: workload.built.then_some(binary),
        files: workload.files.clone(),
        dirs: workload.dirs.clone(),
        ports: workload.ports.clone(),
        ready: Some(workload.ready.clone()),
        live: workload.live.clone(),
        deps,
        trigger: Trigger::Auto,
        live_update: Vec::new(),
        links: workload.links.clone(),
        grace_seconds: workload.grace_seconds,
    }
}

/// The command of a process; cp9 itself for a stub.
fn argv(
    config: &ResolvedConfig,
    node: &ServiceNode,
    workload: &ProcessWorkload,
    roots: &mut roots::Table,
) -> Vec<String> {
    let stub = config.services.stub.get(&node.name);
    let output = stub.and_then(|stub| stub.output.as_deref());
    if let Some(folder) = output.and_then(|output| Utf8Path::new(output).parent()) {
        // A recording outside of the session is brought below a root of its own.
        roots.folder(&node.name, folder.as_str());
    }
    let cp9 = stub.map(|_| roots.exe());
    let binary = binary_path(&node.name);
    let word = |arg: &String| match &cp9 {
        Some(cp9) if arg == CP9 => cp9.clone(),
        _ if node.kind == ServiceKind::Source => roots.text(arg).replace(BINARY, &binary),
        _ => roots.text(arg),
    };
    workload.argv.iter().map(word).collect()
}
