//! The controller: alive where it should be, and no service left without one.

use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "controller";

/// How the controller is.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    session: String,
    /// `running`, `stopped`, `dead` or `unreachable`.
    state: String,
    pid: Option<u32>,
    log: String,
    /// The command that works on the session now.
    busy: Option<String>,
    /// The services whose process lives.
    living: Vec<String>,
}

/// Reads it.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let (folder, _) = context.needs_session()?;
    let controlled = context.controlled.as_ref().ok_or("no session")?;
    Ok(Facts {
        session: folder.name.clone(),
        state: controlled.report.state.clone(),
        pid: controlled.report.pid,
        log: folder.logs().join("controller.log").into_string(),
        busy: context
            .busy
            .as_ref()
            .map(|info| format!("process {} (`{}`)", info.pid, info.command)),
        living: context
            .living()
            .into_iter()
            .map(|(service, _)| service)
            .collect(),
    })
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    if let Some(busy) = &facts.busy {
        let text = format!("{busy} works on session `{}` now", facts.session);
        return vec![Finding::shown(CHECK, "session-busy", text)];
    }
    let mut findings = vec![state(facts).about(&facts.session)];
    if facts.state != "running" && facts.state != "unreachable" && !facts.living.is_empty() {
        let living: Vec<String> = facts
            .living
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let text = format!("{} run without a controller", living.join(", "));
        let alone = Finding::warning(CHECK, "children-unsupervised", text);
        findings.push(alone.remedy("`cp9 up` takes them over, `cp9 pause` ends them"));
    }
    findings
}

fn state(facts: &Facts) -> Finding {
    let session = &facts.session;
    let pid = facts.pid.map(|pid| format!(" (pid {pid})"));
    let pid = pid.unwrap_or_default();
    match facts.state.as_str() {
        "running" => Finding::ok(
            CHECK,
            "controller-running",
            format!("the controller runs{pid}"),
        ),
        "dead" => {
            let text = format!(
                "the controller of session `{session}` is dead; nobody ended it by a command"
            );
            Finding::error(CHECK, "controller-dead", text)
                .remedy("`cp9 up` starts it again and takes the services over")
        }
        "unreachable" => {
            let text = format!("the controller of session `{session}`{pid} does not answer");
            Finding::error(CHECK, "controller-unreachable", text)
                .remedy(format!("see `{}`, or `cp9 pause` and `cp9 up`", facts.log))
        }
        _ => Finding::ok(CHECK, "controller-stopped", "the controller is stopped"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn facts(state: &str, living: &[&str]) -> Facts {
        Facts {
            session: "demo".into(),
            state: state.into(),
            pid: Some(7),
            log: "/w/.cp9/demo/logs/controller.log".into(),
            busy: None,
            living: living.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn ids(facts: &Facts) -> Vec<(String, Severity)> {
        judge(facts)
            .into_iter()
            .map(|f| (f.id, f.severity))
            .collect()
    }

    #[test]
    fn a_dead_controller_is_an_error_and_its_children_a_warning() {
        assert_eq!(
            ids(&facts("dead", &["api"])),
            [
                ("controller-dead".to_owned(), Severity::Error),
                ("children-unsupervised".to_owned(), Severity::Warning),
            ]
        );
        let silent = ids(&facts("unreachable", &["api"]));
        assert_eq!(
            silent,
            [("controller-unreachable".to_owned(), Severity::Error)]
        );
    }

    #[test]
    fn running_and_stopped_are_both_well() {
        assert_eq!(ids(&facts("running", &["api"]))[0].1, Severity::Ok);
        assert_eq!(
            ids(&facts("stopped", &[])),
            [("controller-stopped".to_owned(), Severity::Ok)]
        );
        let left = ids(&facts("stopped", &["api"]));
        assert_eq!(left[1].0, "children-unsupervised");
    }

    #[test]
    fn nothing_is_judged_while_a_command_works_on_it() {
        let mut busy = facts("dead", &["api"]);
        busy.busy = Some("process 9 (`cp9 up`)".into());
        assert_eq!(ids(&busy), [("session-busy".to_owned(), Severity::Ok)]);
    }
}
