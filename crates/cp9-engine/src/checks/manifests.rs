//! What became of the manifests: parts left out on request, parts without meaning on this host, remarks.

use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::context_report::Service;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "manifests";

/// Reads the context report.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Vec<Service>> {
    Ok(context.needs_report()?.services.clone())
}

/// Judges it: all of it is shown, none of it is wrong.
pub(super) fn judge(services: &[Service]) -> Vec<Finding> {
    let findings: Vec<Finding> = services.iter().flat_map(one).collect();
    if findings.is_empty() {
        let text = "every part of the manifests is applied";
        return vec![Finding::ok(CHECK, "manifest-applied", text)];
    }
    findings
}

fn one(service: &Service) -> Vec<Finding> {
    let name = &service.name;
    let list = |parts: &[String]| {
        let parts: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
        parts.join(", ")
    };
    let mut findings = Vec::new();
    let mut show = |id: &str, text: String| {
        findings.push(Finding::shown(CHECK, id, text).about(name));
    };
    if !service.ignored.is_empty() {
        let parts = list(&service.ignored);
        show(
            "manifest-ignored",
            format!("`run.ignore` of service `{name}` leaves out {parts}"),
        );
    }
    if !service.not_applied.is_empty() {
        let parts = list(&service.not_applied);
        show(
            "manifest-not-applied",
            format!("not applied for service `{name}` on this host: {parts}"),
        );
    }
    for note in &service.notes {
        show("manifest-note", format!("service `{name}`: {note}"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    #[test]
    fn what_is_left_out_is_shown_by_service() {
        let service = Service {
            name: "api".into(),
            ignored: vec!["initContainers/wait".into()],
            not_applied: vec!["Role/api".into(), "container resources".into()],
            notes: vec!["no port answers".into()],
            ..Service::default()
        };
        let found = judge(&[service, Service::default()]);
        let ids: Vec<_> = found.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(
            ids,
            ["manifest-ignored", "manifest-not-applied", "manifest-note"]
        );
        assert!(
            found
                .iter()
                .all(|finding| finding.shown && finding.severity == Severity::Ok)
        );
        assert_eq!(
            found[1].finding,
            "not applied for service `api` on this host: `Role/api`, `container resources`"
        );
    }

    #[test]
    fn nothing_left_out_is_ok() {
        assert_eq!(judge(&[Service::default()])[0].id, "manifest-applied");
    }
}
