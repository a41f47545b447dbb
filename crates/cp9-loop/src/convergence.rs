//! Whether a deploy has come to its end, read from one status of the controller. Pure: the first
//! failure ends the wait, and nothing that was so before the trigger counts.

use cp9_model::control::{ControllerStatus, Phase, ResourceStatus};
use cp9_model::devplan::{DevPlan, Resource, ResourceKind};

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The service.
    pub service: String,
    /// The build that must have ended, or a later one; none for a service that is not built.
    pub build: Option<u64>,
    /// The start that the process had when the wait began.
    pub start: u64,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// A build runs or is about to.
    Building,
    /// The new version is not ready yet.
    Starting,
    /// The controller says that the new version runs and is ready; its proof is due.
    Converged,
    /// It will not get there by itself.
    Failed(Failure),
}

/// Why a deploy does not get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The build failed, with the compiler's message.
    Build(String),
    /// The build ended well and did not replace its output.
    Unreplaced(String),
    /// The new version does not stay up.
    Restart(String),
    /// The new version runs and is not ready.
    NotReady(String),
    /// It waits for something that has failed.
    Blocked(String),
    /// The plan does not run it.
    NotPlanned,
}

/// Reads a status.
pub fn standing(plan: &DevPlan, awaited: &Awaited, now: &ControllerStatus) -> Standing {
    let Some((serve, process)) = find(plan, &awaited.service, ResourceKind::Serve, now) else {
        return Standing::Failed(Failure::NotPlanned);
    };
    let build = find(plan, &awaited.service, ResourceKind::Build, now);
    let build = build.map(|(_, status)| status);
    if let Some(standing) = build.and_then(|build| building(awaited, build)) {
        return standing;
    }
    running(awaited, serve, process, build)
}

/// The service's own resources in a status.
pub fn resources<'a>(
    plan: &DevPlan,
    service: &str,
    now: &'a ControllerStatus,
) -> (Option<&'a ResourceStatus>, Option<&'a ResourceStatus>) {
    let of = |kind| find(plan, service, kind, now).map(|(_, status)| status);
    (of(ResourceKind::Build), of(ResourceKind::Serve))
}

fn find<'p, 's>(
    plan: &'p DevPlan,
    service: &str,
    kind: ResourceKind,
    now: &'s ControllerStatus,
) -> Option<(&'p Resource, &'s ResourceStatus)> {
    let mut planned = plan.resources.iter();
    let planned = planned.find(|resource| resource.service == service && resource.kind == kind)?;
    let mut known = now.resources.iter();
    known
        .find(|status| status.name == planned.name)
        .map(|status| (planned, status))
}

fn message(resource: &ResourceStatus) -> String {
    let unsaid = || format!("`{}` does not say why", resource.name);
    resource.message.clone().unwrap_or_else(unsaid)
}

/// `None` once the build that is waited for, or a later one, is there.
fn building(awaited: &Awaited, build: &ResourceStatus) -> Option<Standing> {
    let ended = build.lineage.as_ref().map_or(0, |lineage| lineage.ended);
    if awaited.build.is_some_and(|number| ended < number) {
        let blocked = build.phase == Phase::Waiting && build.verdict;
        let failure = || Standing::Failed(Failure::Blocked(message(build)));
        return Some(if blocked {
            failure()
        } else {
            Standing::Building
        });
    }
    let unreplaced = build
        .lineage
        .as_ref()
        .is_some_and(|lineage| lineage.unreplaced);
    match build.phase {
        Phase::Built => None,
        Phase::Failed if unreplaced => Some(Standing::Failed(Failure::Unreplaced(message(build)))),
        Phase::Failed => Some(Standing::Failed(Failure::Build(message(build)))),
        _ => Some(Standing::Building),
    }
}

fn running(
    awaited: &Awaited,
    serve: &Resource,
    process: &ResourceStatus,
    build: Option<&ResourceStatus>,
) -> Standing {
    let restarted = process
        .lineage
        .as_ref()
        .is_some_and(|lineage| lineage.ended > awaited.start);
    // The controller hands a product over in the step in which its build ends; a process that takes
    // it from the disk follows when the change of the file is seen.
    let handed = serve.binary.is_some() && build.is_some();
    let newest = match build.filter(|_| handed) {
        Some(build) => has_product(build, process),
        None => is_fresh(process),
    };
    let fail = |failure: fn(String) -> Failure| Standing::Failed(failure(message(process)));
    match process.phase {
        Phase::Running if newest => Standing::Converged,
        Phase::Unready if newest => fail(Failure::NotReady),
        Phase::Backoff | Phase::Quiescent if handed || restarted => fail(Failure::Restart),
        Phase::Waiting if process.verdict => fail(Failure::Blocked),
        _ => Standing::Starting,
    }
}

fn has_product(build: &ResourceStatus, process: &ResourceStatus) -> bool {
    let made_from = |status: &ResourceStatus| status.lineage.as_ref()?.made_from.clone();
    build.binary.is_some()
        && build.binary == process.binary
        && made_from(build) == made_from(process)
}

fn is_fresh(process: &ResourceStatus) -> bool {
    let lineage = process.lineage.as_ref();
    lineage.is_some_and(|lineage| lineage.disk.is_some() && lineage.disk == lineage.made_from)
}

#[cfg(test)]
#[path = "convergence_tests.rs"]
mod tests;
