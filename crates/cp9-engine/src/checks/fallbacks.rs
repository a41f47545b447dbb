//! What stands in for something else: older inputs, what the controller makes do with, the socket's place.

use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "fallbacks";

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Inputs by service.
    inputs: Vec<(String, String)>,
    /// What the controller says of itself.
    notes: Vec<String>,
    /// The controller's socket, if it does not lie in the session folder.
    socket: Option<String>,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let (folder, disk) = context.needs_session()?;
    let services = context.report.iter().flat_map(|report| &report.services);
    let inputs = services
        .filter(|service| !matches!(service.fallback.as_str(), "" | "none"))
        .map(|service| (service.name.clone(), service.fallback.clone()));
    let status = context
        .controlled
        .as_ref()
        .and_then(|controlled| controlled.status.as_ref());
    let socket = disk.host.as_ref().map(|host| host.socket.clone());
    Ok(Facts {
        inputs: inputs.collect(),
        notes: status
            .map(|status| status.notes.clone())
            .unwrap_or_default(),
        socket: socket.filter(|socket| !camino::Utf8Path::new(socket).starts_with(&folder.root)),
    })
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let inputs = facts.inputs.iter().map(|(service, what)| {
        let text = format!("service `{service}` uses a fallback: {what}");
        let used = Finding::warning(CHECK, "fallback", text).about(service);
        used.remedy("give the input that it stands in for; see the context report")
    });
    let notes = facts.notes.iter().map(|note| {
        let note = note.replace('\n', " ");
        Finding::warning(
            CHECK,
            "controller-note",
            format!("the controller says: {note}"),
        )
        .remedy("mend the cause, then `cp9 pause` and `cp9 up`")
    });
    let socket = facts.socket.iter().map(|socket| {
        let text = format!(
            "the path of the session folder is too long for a socket, the controller's is `{socket}`"
        );
        Finding::shown(CHECK, "socket-fallback", text).about(socket)
    });
    let findings: Vec<Finding> = inputs.chain(notes).chain(socket).collect();
    if findings.is_empty() {
        return vec![Finding::ok(
            CHECK,
            "fallbacks-none",
            "nothing stands in for something else",
        )];
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    #[test]
    fn fallbacks_are_loud_and_the_socket_is_shown() {
        let facts = Facts {
            inputs: vec![("api".into(), "values from `old/env`".into())],
            notes: vec!["looking every\n1 s".into()],
            socket: Some("/tmp/cp9-1.sock".into()),
        };
        let found: Vec<_> = judge(&facts)
            .into_iter()
            .map(|f| (f.id, f.severity, f.shown))
            .collect();
        assert_eq!(
            found,
            [
                ("fallback".to_owned(), Severity::Warning, false),
                ("controller-note".to_owned(), Severity::Warning, false),
                ("socket-fallback".to_owned(), Severity::Ok, true),
            ]
        );
        assert_eq!(judge(&Facts::default())[0].id, "fallbacks-none");
    }
}
