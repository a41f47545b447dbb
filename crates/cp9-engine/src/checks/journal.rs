//! The journal of the session: readable, this folder's own, without a state that failed or was broken off.

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
    /// It can be read.
    Read {
        /// The states that ended badly, each with its error.
        failed: Vec<(String, String)>,
        /// The states that came to no end, each with its status.
        broken_off: Vec<(String, &'static str)>,
    },
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
            Ok(()) => Facts::Read {
                failed: failed(state),
                // What is at work now is not broken off.
                broken_off: match cp9_tools::lock::holder(&folder.lock()) {
                    Some(_) => Vec::new(),
                    None => broken_off(state),
                },
            },
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

fn broken_off(state: &SessionState) -> Vec<(String, &'static str)> {
    let states = state.states.iter();
    states
        .filter(|(_, entry)| {
            matches!(
                entry.status,
                StateStatus::Running | StateStatus::Partial | StateStatus::Interrupted
            )
        })
        .map(|(name, entry)| (name.to_string(), entry.status.word()))
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
        Facts::Read { failed, broken_off } if failed.is_empty() && broken_off.is_empty() => {
            vec![Finding::ok(
                CHECK,
                "journal",
                "no state has failed or was broken off",
            )]
        }
        Facts::Read { failed, broken_off } => {
            let failed = failed.iter().map(|(state, message)| {
                let text = format!("state `{state}` failed: {message}");
                let failed = Finding::warning(CHECK, "state-failed", text).about(state);
                failed.remedy("mend the cause, then run `cp9 up`")
            });
            let broken_off = broken_off.iter().map(|(state, status)| {
                let text = format!("state `{state}` is {status}, and nobody is at work");
                let found = Finding::warning(CHECK, "state-broken-off", text).about(state);
                found.remedy("run `cp9 up`, which goes on from there")
            });
            failed.chain(broken_off).collect()
        }
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
        let read = |failed, broken_off| judge(&Facts::Read { failed, broken_off });
        let failed = read(vec![("host_ready".into(), "no port".into())], vec![]);
        assert_eq!(
            (failed[0].id.as_str(), failed[0].severity),
            ("state-failed", Severity::Warning)
        );
        let broken = read(vec![], vec![("tilt_ready".into(), "interrupted")]);
        assert_eq!(
            (broken[0].id.as_str(), broken[0].severity),
            ("state-broken-off", Severity::Warning)
        );
        assert_eq!(read(vec![], vec![])[0].severity, Severity::Ok);
    }
}
