//! The service graph in first-start order: what is needed stands first, names decide the rest.

use std::collections::{BTreeMap, BTreeSet};

use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::graph::{AppBinding, ServiceGraph, ServiceKind, ServiceNode, SourceBinding};
use cp9_model::{Diagnostic, ServiceName};

use crate::argo::ServiceInput;
use crate::nearest::{nearest, quoted};
use crate::problem;
use crate::process::stub;

/// The version word of `services/plan.json`.
pub const API_VERSION: &str = "cp9.services/v1";

/// Builds the graph of a session.
pub fn build(
    config: &ResolvedConfig,
    inputs: &[ServiceInput],
) -> Result<ServiceGraph, Vec<Diagnostic>> {
    let nodes = nodes(config, inputs);
    let mut problems = check(config, &nodes);
    problems.extend(stub::collisions(config, inputs));
    if !problems.is_empty() {
        return Err(problems);
    }
    let services = order(nodes).map_err(|circle| vec![cycle(config, &circle)])?;
    Ok(ServiceGraph {
        api_version: API_VERSION.to_owned(),
        services,
    })
}

type Nodes = BTreeMap<ServiceName, ServiceNode>;

fn nodes(config: &ResolvedConfig, inputs: &[ServiceInput]) -> Nodes {
    let app = |name: &ServiceName| -> Option<AppBinding> {
        inputs
            .iter()
            .find(|input| input.service == *name)
            .map(|input| input.app.clone())
    };
    let node = |name: &ServiceName, kind, needs: &[ServiceName], source| {
        let mut needs = needs.to_vec();
        needs.sort();
        needs.dedup();
        (
            name.clone(),
            ServiceNode {
                name: name.clone(),
                kind,
                needs,
                app: app(name),
                source,
            },
        )
    };
    let services = &config.services;
    let source = services.source.iter().map(|(name, service)| {
        let binding = SourceBinding {
            repo: service.repo.clone(),
            git_ref: service.git_ref.clone(),
        };
        node(name, ServiceKind::Source, &service.needs, Some(binding))
    });
    let live = services
        .live
        .iter()
        .map(|(name, service)| node(name, ServiceKind::Live, &service.needs, None));
    let stub = services
        .stub
        .keys()
        .map(|name| node(name, ServiceKind::Stub, &[], None));
    stub.chain(live).chain(source).collect()
}

fn check(config: &ResolvedConfig, nodes: &Nodes) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for node in nodes.values() {
        let known = || nodes.keys().map(ServiceName::as_str);
        for need in node.needs.iter().filter(|need| !nodes.contains_key(need)) {
            let help = match nearest(need.as_str(), known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("services of this session: {}", quoted(known())),
            };
            let message = format!(
                "service `{}` needs `{need}`, which is no service of this session",
                node.name
            );
            problems.push(problem::session(
                config,
                problem::GRAPH,
                needs_pointer(node),
                message,
                help,
            ));
        }
    }
    for (index, name) in config.source_build_services.iter().enumerate() {
        if !config.services.source.contains_key(name) {
            let pointer = format!("/source_build_services/{index}");
            let message = format!(
                "`source_build_services` names `{name}`, which is not under `services.source`"
            );
            let help = format!(
                "services under `services.source`: {}",
                quoted(config.services.source.keys().map(ServiceName::as_str))
            );
            problems.push(problem::session(
                config,
                problem::GRAPH,
                pointer,
                message,
                help,
            ));
        }
    }
    problems
}

fn needs_pointer(node: &ServiceNode) -> String {
    let kind = match node.kind {
        ServiceKind::Source => "source",
        ServiceKind::Live => "live",
        ServiceKind::Stub => "stub",
    };
    format!("/services/{kind}/{}/needs", node.name)
}

/// Kahn's sort; of several that could come next the least by name. The error is what is left.
fn order(mut left: Nodes) -> Result<Vec<ServiceNode>, Nodes> {
    let mut done: BTreeSet<ServiceName> = BTreeSet::new();
    let mut services = Vec::new();
    while !left.is_empty() {
        let next = left
            .values()
            .find(|node| node.needs.iter().all(|need| done.contains(need)));
        let Some(name) = next.map(|node| node.name.clone()) else {
            return Err(left);
        };
        services.extend(left.remove(&name));
        done.insert(name);
    }
    Ok(services)
}

fn cycle(config: &ResolvedConfig, left: &Nodes) -> Diagnostic {
    let mut path: Vec<&ServiceName> = Vec::new();
    let mut next = left.keys().next();
    while let Some(name) = next.filter(|name| !path.contains(name)) {
        path.push(name);
        next = left
            .get(name)
            .and_then(|node| node.needs.iter().find(|need| left.contains_key(need)));
    }
    let start = next
        .and_then(|name| path.iter().position(|known| *known == name))
        .unwrap_or(0);
    let circle: Vec<String> = path[start..]
        .iter()
        .chain(path.get(start))
        .map(|name| format!("`{name}`"))
        .collect();
    let pointer = path
        .get(start)
        .and_then(|name| left.get(*name))
        .map(needs_pointer)
        .unwrap_or_default();
    problem::session(
        config,
        problem::GRAPH,
        pointer,
        format!(
            "services need each other in a circle: {}",
            circle.join(" → ")
        ),
        "take one `needs` out; mentions of endpoints need no order",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ServiceName {
        text.parse().expect("a name")
    }

    fn graph(edges: &[(&str, &[&str])]) -> Nodes {
        edges
            .iter()
            .map(|(service, needs)| {
                let needs = needs.iter().map(|need| name(need)).collect();
                let node = ServiceNode {
                    name: name(service),
                    kind: ServiceKind::Live,
                    needs,
                    app: None,
                    source: None,
                };
                (name(service), node)
            })
            .collect()
    }

    fn names(nodes: &[ServiceNode]) -> Vec<&str> {
        nodes.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn needs_come_first_and_names_decide_the_rest() {
        let sorted = order(graph(&[
            ("a", &["z"]),
            ("b", &[]),
            ("z", &["m"]),
            ("m", &[]),
        ]))
        .expect("no circle");
        assert_eq!(names(&sorted), ["b", "m", "z", "a"]);
    }

    #[test]
    fn a_circle_is_named_without_what_only_leads_to_it() {
        let left = order(graph(&[
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["b"]),
            ("d", &[]),
        ]))
        .expect_err("a circle");
        let config = crate::process::tests::config(&serde_json::json!({}));
        let found = cycle(&config, &left);
        assert_eq!(
            found.message,
            "services need each other in a circle: `b` → `c` → `b`"
        );
        assert_eq!(found.pointer, "/services/live/b/needs");
    }

    #[test]
    fn a_service_that_needs_itself_is_a_circle() {
        let left = order(graph(&[("a", &["a"])])).expect_err("a circle");
        let config = crate::process::tests::config(&serde_json::json!({}));
        assert_eq!(
            cycle(&config, &left).message,
            "services need each other in a circle: `a` → `a`"
        );
    }
}
