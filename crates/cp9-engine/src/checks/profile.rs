//! Whether the processes of the session get its identity: the controller is asked as an SDK would ask it.

use std::time::Duration;

use cp9_model::report::doctor::Finding;
use jiff::Timestamp;

use super::context::Context;
use super::sheet::Gathered;
use crate::commands::credentials;
use crate::profile;

/// The check's name.
pub(super) const CHECK: &str = "profile";
/// How long the controller may take here: as long as a cloud may that answers at all.
const ANSWER: Duration = Duration::from_secs(15);

/// What the profile is good for.
#[derive(Debug)]
pub(super) struct Facts {
    path: String,
    /// Whether the file is there.
    there: bool,
    /// When the credentials end that were given, or why there were none: a message and a remedy.
    given: Result<String, (String, Option<String>)>,
    now: Timestamp,
}

/// Asks for credentials, and keeps none.
pub(super) async fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let (folder, disk) = context.needs_session()?;
    if disk.identity.is_none() {
        return Err("the session writes to no cloud".into());
    }
    if context.controller_state() != Some("running") {
        return Err("the controller does not run".into());
    }
    let engine = context.engine;
    let asked = credentials::ask(engine, folder, &disk.state.id);
    let given = match tokio::time::timeout(ANSWER, asked).await {
        Ok(Ok(credentials)) => Ok(credentials.expiration),
        Ok(Err(error)) => {
            let message = engine.doors.redactor.redact(&error.told());
            Err((message, error.source.remedy()))
        }
        Err(_) => {
            let message = format!("no credentials came within {} s", ANSWER.as_secs());
            Err((message, None))
        }
    };
    let path = profile::path(folder);
    Ok(Facts {
        there: engine.doors.exists(&path),
        path: path.into_string(),
        given,
        now: engine.doors.clock.now(),
    })
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let path = &facts.path;
    if !facts.there {
        let text = format!("AWS profile `{path}` is gone, so services have no credentials");
        let finding = Finding::error(CHECK, "profile-missing", text).about(path);
        return vec![finding.remedy("`cp9 up` writes it again")];
    }
    vec![match &facts.given {
        Ok(end) => {
            let end = end.parse::<Timestamp>().unwrap_or(facts.now);
            let minutes = end.duration_since(facts.now).as_secs() / 60;
            let text = format!("services get credentials, now for {minutes} minutes");
            Finding::ok(CHECK, "profile-gives", text).about(path)
        }
        Err((message, remedy)) => {
            let text = format!("services get no credentials: {message}");
            let finding = Finding::error(CHECK, "profile-withheld", text).about(path);
            finding.remedy(remedy.as_deref().unwrap_or("see `cp9 status`"))
        }
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_services_would_be_told_is_told() {
        let facts = |there, given| Facts {
            path: "/w/.cp9/demo/aws/config".into(),
            there,
            given,
            now: "2026-12-01T10:00:00Z".parse().expect("a time"),
        };
        let judged = |facts| judge(&facts).remove(0);
        let well = judged(facts(true, Ok("2026-12-01T10:59:30Z".into())));
        assert_eq!(well.id, "profile-gives");
        assert!(well.finding.contains("59 minutes"), "{}", well.finding);
        let gone = judged(facts(false, Ok("2026-12-01T11:00:00Z".into())));
        assert_eq!(gone.id, "profile-missing");
        let ill = judged(facts(true, Err(("expired".into(), Some("sign in".into())))));
        assert_eq!(ill.id, "profile-withheld");
        assert_eq!(ill.remedy.as_deref(), Some("sign in"));
    }
}
