//! The services of a session: one row each, and under a red one why it is red.

use cp9_model::control::{Phase, ResourceStatus};
use cp9_model::graph::ServiceKind;
use cp9_model::report::ServiceReport;

use super::style::{BAD, BUSY, GOOD, indent};
use super::table::{Cell, table};

/// All services; nothing where there are none.
pub(crate) fn services(services: &[ServiceReport]) -> String {
    if services.is_empty() {
        return "no services\n".into();
    }
    let rows: Vec<_> = services
        .iter()
        .map(|service| (row(service), below(service)))
        .collect();
    table(&["SERVICE", "KIND", "STATUS", "ENDPOINT", "PROCESS"], &rows)
}

fn row(service: &ServiceReport) -> Vec<Cell> {
    let (word, style) = match (service.ready, worst(service)) {
        (true, _) => ("ready", GOOD),
        (false, Some(phase)) if failed(phase) => (word(phase), BAD),
        (false, Some(phase)) => (word(phase), BUSY),
        (false, None) => ("not ready", BAD),
    };
    let word = match stale(service) {
        Some(pair) => format!("{word}, {pair}"),
        None => word.to_owned(),
    };
    let process = service
        .pod
        .clone()
        .or_else(|| service.pid.map(|pid| format!("pid {pid}")));
    vec![
        Cell::plain(&service.name),
        Cell::plain(kind(service.kind)),
        Cell::new(word, style),
        Cell::plain(service.endpoint.clone().unwrap_or_default()),
        Cell::plain(process.unwrap_or_default()),
    ]
}

/// The pair that differs, unless the controller is at work on it.
fn stale(service: &ServiceReport) -> Option<&'static str> {
    let at_work = |resource: &ResourceStatus| {
        matches!(
            resource.phase,
            Phase::Waiting | Phase::Building | Phase::Starting | Phase::Stopping
        )
    };
    let differs = service.generation.as_ref()?.differs?;
    (!service.resources.iter().any(at_work)).then(|| differs.word())
}

/// Why a service is not ready, as its own lines.
fn below(service: &ServiceReport) -> Option<String> {
    let message = service
        .message
        .as_deref()
        .filter(|text| !service.ready && !text.trim().is_empty())?;
    Some(indent("    ", message.trim_end()))
}

/// The phase of the resource that keeps a service from being ready.
fn worst(service: &ServiceReport) -> Option<Phase> {
    let red = |resource: &&ResourceStatus| !resource.ready;
    let broken = service
        .resources
        .iter()
        .filter(red)
        .find(|resource| failed(resource.phase));
    broken
        .or_else(|| service.resources.iter().find(red))
        .map(|resource| resource.phase)
}

fn failed(phase: Phase) -> bool {
    matches!(
        phase,
        Phase::Failed | Phase::Unready | Phase::Backoff | Phase::Quiescent
    )
}

fn kind(kind: ServiceKind) -> &'static str {
    match kind {
        ServiceKind::Source => "source",
        ServiceKind::Live => "live",
        ServiceKind::Stub => "stub",
    }
}

/// The word for a phase.
pub(crate) fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Waiting => "waiting",
        Phase::Building => "building",
        Phase::Built => "built",
        Phase::Starting => "starting",
        Phase::Running => "running",
        Phase::Unready => "unready",
        Phase::Failed => "failed",
        Phase::Backoff => "crashed, waits for its next start",
        Phase::Quiescent => "crashed too often",
        Phase::Stopping => "stopping",
        Phase::Stopped => "stopped",
    }
}

/// One resource after a change, such as `api-live-binary failed: expected one of …`.
pub(crate) fn line(resource: &ResourceStatus) -> String {
    use super::style::{clean, paint};
    let style = if failed(resource.phase) { BAD } else { BUSY };
    let style = if resource.ready { GOOD } else { style };
    let time = match (resource.phase, resource.build_millis) {
        (Phase::Built | Phase::Failed, Some(millis)) => {
            format!(
                " ({:.1} s)",
                std::time::Duration::from_millis(millis).as_secs_f64()
            )
        }
        _ => String::new(),
    };
    let first = resource
        .message
        .as_deref()
        .and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    let why = first
        .filter(|_| !resource.ready)
        .map(|line| format!(": {}", clean(line.trim())))
        .unwrap_or_default();
    format!(
        "{} {}{time}{why}",
        resource.name,
        paint(style, word(resource.phase))
    )
}
