//! Ports that a session used and that somebody holds after it has ended.

use std::time::Duration;

use cp9_cloud::{Ledger, LedgerEntry};
use cp9_model::report::Survivor;
use cp9_model::scope::ENV_ID;
use cp9_tools::procs::{self, ProcessFacts};

/// How long a port may take to be free after the last process that held it has ended.
const RELEASE: Duration = Duration::from_millis(500);

/// The ledgered ports that are still in use and not proven to be somebody else's.
pub(super) async fn still_held(ledger: &Ledger, id: &str) -> Vec<Survivor> {
    let mut held = Vec::new();
    for entry in &ledger.entries {
        let LedgerEntry::Port { port } = entry else {
            continue;
        };
        if !procs::becomes_free(*port, RELEASE).await {
            held.extend(judge(*port, id, &procs::listeners(*port)));
        }
    }
    held
}

/// A port that was given up may be taken by another session at once: its processes carry another scope.
/// Whoever carries none may be a child that shed its environment.
fn judge(port: u16, id: &str, who: &[ProcessFacts]) -> Option<Survivor> {
    let foreign = |one: &ProcessFacts| one.var(ENV_ID).is_some_and(|other| other != id);
    if !who.is_empty() && who.iter().all(foreign) {
        return None;
    }
    let suspect = who.iter().find(|one| !foreign(one));
    let by = match suspect {
        Some(one) => format!("`{}` (pid {})", one.name, one.id.pid),
        None => "a process that cannot be seen".into(),
    };
    let reason = format!("still in use by {by}, which is not proven to be another session's");
    let remedy = match suspect {
        Some(one) => format!("end it if it is yours: `kill {}`", one.id.pid),
        None => format!("see who listens: `ss -ltnp sport = :{port}`"),
    };
    Some(Survivor::local("port", port.to_string(), reason, remedy))
}

#[cfg(test)]
mod tests {
    use cp9_tools::procs::ProcessId;

    use super::*;

    fn process(pid: u32, id: Option<&str>) -> ProcessFacts {
        let env = id.map(|id| (ENV_ID.to_owned(), id.to_owned()));
        ProcessFacts {
            id: ProcessId { pid, start_time: 1 },
            parent: None,
            name: "leak".into(),
            exe: None,
            cwd: None,
            cmd: Vec::new(),
            env: env.into_iter().collect(),
            zombie: false,
        }
    }

    #[test]
    fn a_port_that_another_session_took_is_not_ours() {
        assert_eq!(judge(20_001, "ours", &[process(7, Some("other"))]), None);
        let unmarked = judge(
            20_001,
            "ours",
            &[process(7, Some("other")), process(8, None)],
        );
        let unmarked = unmarked.expect("a survivor");
        assert!(unmarked.reason.contains("`leak` (pid 8)"), "{unmarked:?}");
        assert_eq!(
            unmarked.remedy.as_deref(),
            Some("end it if it is yours: `kill 8`")
        );
        let ours = judge(20_001, "ours", &[process(9, Some("ours"))]);
        assert!(ours.is_some(), "our own child is never excused");
        let unseen = judge(20_001, "ours", &[]).expect("a survivor");
        assert!(unseen.remedy.expect("one").contains("20001"));
    }
}
