//! The allocated ports: free, or held by the session's own services, and no other session's.

use std::collections::BTreeMap;

use cp9_model::report::doctor::Finding;
use cp9_tools::procs;

use super::context::Context;
use super::registry;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "ports";

/// The ports of a session.
#[derive(Debug)]
pub(super) struct Facts {
    /// True when the services should run.
    running: bool,
    ports: Vec<Port>,
}

/// One of them.
#[derive(Debug, Clone)]
struct Port {
    service: String,
    host: u16,
    holder: Holder,
    /// Another session that has it too.
    shared: Option<String>,
}

/// Who listens on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Nobody,
    /// The service's own process, as far as its being alive tells.
    Ours,
    Other,
}

/// Looks at them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let (folder, disk) = context.needs_session()?;
    let host = disk.host.as_ref().ok_or("no port is allocated yet")?;
    let living: Vec<String> = context.living().into_iter().map(|(name, _)| name).collect();
    let others = others(context, &folder.name);
    let mut ports = Vec::new();
    for (service, numbers) in &host.ports {
        for port in numbers.values() {
            // A port that a service may be about to take is not tried.
            let holder = if living.contains(service) {
                Holder::Ours
            } else if procs::is_port_free(*port) {
                Holder::Nobody
            } else {
                Holder::Other
            };
            ports.push(Port {
                service: service.clone(),
                host: *port,
                holder,
                shared: others.get(port).cloned(),
            });
        }
    }
    Ok(Facts {
        running: context.controller_state() == Some("running"),
        ports,
    })
}

/// The ports of the other living sessions of this user.
fn others(context: &Context<'_>, name: &str) -> BTreeMap<u16, String> {
    let entries = registry::living(context);
    let others = entries.into_iter().filter(|entry| entry.name != name);
    others
        .flat_map(|entry| {
            let name = entry.name;
            entry
                .ports
                .into_iter()
                .map(move |port| (port, name.clone()))
        })
        .collect()
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let findings: Vec<Finding> = facts
        .ports
        .iter()
        .flat_map(|port| one(port, facts.running))
        .collect();
    if findings.is_empty() {
        let text = match facts.ports.len() {
            0 => "no port is needed".to_owned(),
            count => format!("{count} ports are free or the session's own"),
        };
        return vec![Finding::ok(CHECK, "ports", text)];
    }
    findings
}

fn one(port: &Port, running: bool) -> Vec<Finding> {
    let Port { service, host, .. } = port;
    let shared = port.shared.as_ref().map(|other| {
        let text = format!("port {host} of service `{service}` is also that of session `{other}`");
        let shared = Finding::warning(CHECK, "port-shared", text).about(host.to_string());
        shared.remedy("`cp9 pause` and `cp9 up` give it another one")
    });
    let taken = (port.holder == Holder::Other).then(|| {
        let text = format!(
            "port {host} of service `{service}` is held by a process of another session or program"
        );
        let look = format!("see who listens: `lsof -nP -iTCP:{host} -sTCP:LISTEN`");
        let taken = if running {
            Finding::error(CHECK, "port-taken", text)
                .remedy(format!("{look}; end it, or `cp9 pause` and `cp9 up`"))
        } else {
            Finding::warning(CHECK, "port-taken", text)
                .remedy(format!("{look}; `cp9 up` takes another port otherwise"))
        };
        taken.about(host.to_string())
    });
    shared.into_iter().chain(taken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn facts(running: bool, holder: Holder, shared: Option<&str>) -> Facts {
        let port = Port {
            service: "api".into(),
            host: 20001,
            holder,
            shared: shared.map(str::to_owned),
        };
        Facts {
            running,
            ports: vec![port],
        }
    }

    fn ids(facts: &Facts) -> Vec<(String, Severity)> {
        judge(facts)
            .into_iter()
            .map(|f| (f.id, f.severity))
            .collect()
    }

    #[test]
    fn a_free_port_and_an_own_one_are_well() {
        for holder in [Holder::Nobody, Holder::Ours] {
            assert_eq!(
                ids(&facts(true, holder, None)),
                [("ports".to_owned(), Severity::Ok)]
            );
        }
    }

    #[test]
    fn a_taken_port_is_an_error_only_while_its_service_needs_it() {
        let running = ids(&facts(true, Holder::Other, None));
        assert_eq!(running, [("port-taken".to_owned(), Severity::Error)]);
        let stopped = ids(&facts(false, Holder::Other, None));
        assert_eq!(stopped, [("port-taken".to_owned(), Severity::Warning)]);
    }

    #[test]
    fn a_port_of_two_sessions_is_told() {
        let shared = judge(&facts(true, Holder::Ours, Some("other"))).remove(0);
        assert_eq!(
            (shared.id.as_str(), shared.severity),
            ("port-shared", Severity::Warning)
        );
        assert!(shared.finding.contains("`other`") && shared.subject.as_deref() == Some("20001"));
    }
}
