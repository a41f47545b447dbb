//! The journal of the session: readable, this folder's own, without a failed state.

use cp9_model::lifecycle::{SessionState, StateStatus};
use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;
use crate::error::EngineError;
use crate::session;

/// The check's name.
pub(super) const CHECK: &str = "journal";

/// What the journal is like.
#[derive(Debug)]
pub(super) enum Facts {
    /// It is of no use.
    Unusable {
        id: &'static str,
        text: String,
        remedy: Option<String>,
    },
    /// It can be read; the states that ended badly, each with its error.
    Read(Vec<(String, String)>),
}

/// Reads it.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let (Some(folder), Some(disk)) = (&context.folder, &context.disk) else {
        return Err("no session".to_owned());
    };
    let state = match disk {
        Ok(disk) => &disk.state,
        Err(error) => return Ok(unusable("journal-unreadable", error)),
    };
    Ok(
        match session::refuse_copy(&context.engine.doors, folder, state) {
            Err(copied) => unusable("session-copied", &copied.into()),
            Ok(()) => Facts::Read(failed(state)),
        },
    )
}

fn unusable(id: &'static str, error: &EngineError) -> Facts {
    Facts::Unusable {
        id,
        text: error.told(),
        remedy: error.source.remedy(),
    }
}

fn failed(state: &SessionState) -> Vec<(String, String)> {
    let states = state.states.iter();
    states
        .filter(|(_, entry)| entry.status == StateStatus::Failed)
        .map(|(name, entry)| {
            let error = entry.error.as_ref().map(|error| error.message.clone());
            (name.to_string(), error.unwrap_or_default())
        })
        .collect()
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    match facts {
        Facts::Unusable { id, text, remedy } => {
            let finding = Finding::error(CHECK, id, text);
            vec![match remedy {
                Some(remedy) => finding.remedy(remedy),
                None => finding,
            }]
        }
        Facts::Read(failed) if failed.is_empty() => {
            vec![Finding::ok(CHECK, "journal", "no state has failed")]
        }
        Facts::Read(failed) => failed
            .iter()
            .map(|(state, message)| {
                let text = format!("state `{state}` failed: {message}");
                let failed = Finding::warning(CHECK, "state-failed", text).about(state);
                failed.remedy("mend the cause, then run `cp9 up`")
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    #[test]
    fn an_unusable_journal_is_an_error_and_a_failed_state_a_warning() {
        let unusable = Facts::Unusable {
            id: "journal-unreadable",
            text: "no journal".into(),
            remedy: Some("restore it".into()),
        };
        let found = judge(&unusable);
        assert_eq!(
            (found[0].id.as_str(), found[0].severity),
            ("journal-unreadable", Severity::Error)
        );
        assert_eq!(found[0].remedy.as_deref(), Some("restore it"));
        let failed = judge(&Facts::Read(vec![("host_ready".into(), "no port".into())]));
        assert_eq!(
            (failed[0].id.as_str(), failed[0].severity),
            ("state-failed", Severity::Warning)
        );
        assert_eq!(judge(&Facts::Read(vec![]))[0].severity, Severity::Ok);
    }
}
