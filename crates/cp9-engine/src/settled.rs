//! When a plan's resources have all had their first verdict, and which services are ready. Pure.

use cp9_model::control::{ControllerStatus, Phase, ResourceStatus};
use cp9_model::devplan::{DevPlan, ResourceKind};
use cp9_model::graph::ServiceGraph;
use cp9_model::host::HostFacts;
use cp9_model::report::ServiceReport;

/// True when nothing more is to be waited for: every resource was ready or failed once and is at rest, or
/// waits for one that failed.
pub(crate) fn settled(plan: &DevPlan, status: &ControllerStatus) -> bool {
    let at_rest = !status.resources.iter().any(at_work);
    at_rest
        && plan
            .resources
            .iter()
            .all(|resource| has_verdict(plan, status, &resource.name, plan.resources.len()))
}

/// A build, or a start that is no repetition of one that crashed: its verdict is about to change.
fn at_work(resource: &ResourceStatus) -> bool {
    match resource.phase {
        Phase::Building | Phase::Stopping => true,
        Phase::Starting => resource.restarts == 0,
        _ => false,
    }
}

/// The first resource at rest whose verdict is bad.
pub(crate) fn first_failed(status: &ControllerStatus) -> Option<&ResourceStatus> {
    status
        .resources
        .iter()
        .find(|resource| resource.verdict && !resource.ready && !at_work(resource))
}

fn find<'a>(status: &'a ControllerStatus, name: &str) -> Option<&'a ResourceStatus> {
    status
        .resources
        .iter()
        .find(|resource| resource.name == name)
}

/// `depth` bounds the walk, so that a cyclic plan cannot loop.
fn has_verdict(plan: &DevPlan, status: &ControllerStatus, name: &str, depth: usize) -> bool {
    let Some(resource) = find(status, name) else {
        return false;
    };
    if resource.verdict {
        return true;
    }
    let blocked = resource.phase == Phase::Waiting && depth > 0;
    blocked
        && plan.resource(name).is_some_and(|planned| {
            planned.deps.iter().any(|dep| {
                let bad = find(status, dep).is_some_and(|dep| !dep.ready);
                bad && has_verdict(plan, status, dep, depth - 1)
            })
        })
}

/// The services as reports show them.
pub(crate) fn services(
    graph: &ServiceGraph,
    plan: Option<&DevPlan>,
    host: Option<&HostFacts>,
    status: Option<&ControllerStatus>,
) -> Vec<ServiceReport> {
    graph
        .services
        .iter()
        .map(|node| {
            let name = node.name.to_string();
            let resources: Vec<ResourceStatus> = status
                .iter()
                .flat_map(|status| &status.resources)
                .filter(|resource| resource.service == name)
                .cloned()
                .collect();
            let red = resources.iter().find(|resource| !resource.ready);
            ServiceReport {
                kind: node.kind,
                ready: !resources.is_empty() && red.is_none(),
                endpoint: endpoint(&name, plan, host),
                pid: resources.iter().find_map(|resource| resource.pid),
                pod: None,
                message: red.and_then(|resource| resource.message.clone()),
                generation: None,
                resources,
                name,
            }
        })
        .collect()
}

/// The first link of the service's own resource, else its first port.
pub(crate) fn endpoint(
    service: &str,
    plan: Option<&DevPlan>,
    host: Option<&HostFacts>,
) -> Option<String> {
    let served = plan.and_then(|plan| {
        plan.resources
            .iter()
            .find(|resource| resource.service == service && resource.kind == ResourceKind::Serve)
    });
    if let Some(link) = served.and_then(|resource| resource.links.first()) {
        return Some(link.clone());
    }
    if let Some(port) = served.and_then(|resource| resource.ports.first()) {
        return Some(format!("http://127.0.0.1:{}", port.host));
    }
    let port = *host?.ports.get(service)?.values().next()?;
    Some(format!("http://127.0.0.1:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::control::Hello;

    fn plan(deps: &[(&str, &[&str])]) -> DevPlan {
        let resources: Vec<serde_json::Value> = deps
            .iter()
            .map(|(name, deps)| {
                serde_json::json!({"name": name, "service": name, "kind": "serve", "cwd": "/", "deps": deps, "trigger": "auto"})
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "apiVersion": "cp9.devplan/v1", "session": "s", "roots": {}, "resources": resources
        }))
        .expect("a valid plan")
    }

    fn status(resources: &[(&str, Phase, bool, bool)]) -> ControllerStatus {
        let resources: Vec<ResourceStatus> = resources
            .iter()
            .map(|(name, phase, ready, verdict)| {
                let value = serde_json::json!({
                    "name": name, "service": name, "phase": phase, "ready": ready, "verdict": verdict,
                    "restarts": 0, "runs": 0
                });
                serde_json::from_value(value).expect("a valid status")
            })
            .collect();
        let hello = Hello {
            id: "i".into(),
            protocol: 1,
            plan_digest: "d".into(),
            pid: 1,
            version: String::new(),
            stopping: false,
        };
        serde_json::from_value(serde_json::json!({"hello": hello, "resources": resources}))
            .expect("a valid status")
    }

    #[test]
    fn waiting_for_a_failed_dependency_is_a_verdict() {
        let plan = plan(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]);
        let red = status(&[
            ("a", Phase::Failed, false, true),
            ("b", Phase::Waiting, false, false),
            ("c", Phase::Waiting, false, false),
        ]);
        assert!(settled(&plan, &red));
        assert_eq!(first_failed(&red).map(|r| r.name.as_str()), Some("a"));
        let green = status(&[
            ("a", Phase::Running, true, true),
            ("b", Phase::Waiting, false, false),
            ("c", Phase::Waiting, false, false),
        ]);
        assert!(!settled(&plan, &green), "b will start now");
        let rebuilding = status(&[
            ("a", Phase::Building, false, true),
            ("b", Phase::Running, true, true),
            ("c", Phase::Running, true, true),
        ]);
        assert!(
            !settled(&plan, &rebuilding),
            "the old verdict is about to be replaced"
        );
        let young = status(&[("a", Phase::Starting, false, false)]);
        assert!(
            !settled(&plan, &young),
            "a resource the controller does not show has no verdict"
        );
    }
}
