//! Which processes are a session's. Pure, on facts already read.

use camino::Utf8Path;
use cp9_model::Scope;
use cp9_model::scope::{ENV_ID, ENV_OWNER, ENV_SESSION};
use cp9_tools::procs::{ProcessFacts, ProcessId};

use crate::cloud::{Found, Ledger, LedgerEntry};

/// Why a process is the scope's, or none.
pub(crate) fn because(
    process: &ProcessFacts,
    scope: &Scope,
    folder: &Utf8Path,
    ledger: &Ledger,
) -> Option<&'static str> {
    let carries = |key: &str, value: &str| process.env.iter().any(|(k, v)| k == key && v == value);
    if carries(ENV_ID, &scope.id)
        && carries(ENV_SESSION, scope.session.as_str())
        && carries(ENV_OWNER, scope.owner.as_str())
    {
        return Some("environment");
    }
    let known = ledger.entries.iter().any(|entry| match entry {
        LedgerEntry::Process {
            pid, start_time, ..
        } => process.id.is_same(ProcessId {
            pid: *pid,
            start_time: *start_time,
        }),
        LedgerEntry::Port { .. } | LedgerEntry::Resource { .. } => false,
    });
    if known {
        return Some("ledger");
    }
    if process
        .exe
        .as_ref()
        .is_some_and(|exe| exe.starts_with(folder))
    {
        return Some("executable");
    }
    process
        .cwd
        .as_ref()
        .is_some_and(|cwd| cwd.starts_with(folder))
        .then_some("working directory")
}

/// The scope's living processes, without this one and those it descends from.
pub(crate) fn select(
    processes: &[ProcessFacts],
    own_pid: u32,
    scope: &Scope,
    folder: &Utf8Path,
    ledger: &Ledger,
) -> Vec<Found> {
    let spared = ancestors(processes, own_pid);
    processes
        .iter()
        .filter(|process| !process.zombie && !spared.contains(&process.id.pid))
        .filter_map(|process| {
            let because = because(process, scope, folder, ledger)?;
            Some(Found {
                kind: "process".into(),
                id: process.id.pid.to_string(),
                name: process.name.clone(),
                because: because.into(),
                start_time: process.id.start_time,
            })
        })
        .collect()
}

/// A process and everything above it.
pub(crate) fn ancestors(processes: &[ProcessFacts], pid: u32) -> Vec<u32> {
    let mut line = vec![pid];
    while let Some(parent) = processes
        .iter()
        .find(|process| Some(&process.id.pid) == line.last())
        .and_then(|process| process.parent)
        .filter(|parent| !line.contains(parent))
    {
        line.push(parent);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::Owner;

    fn scope() -> Scope {
        let session = "demo".parse().expect("valid");
        Scope {
            owner: Owner::new("local"),
            session,
            id: "abc".into(),
        }
    }

    fn process(pid: u32, parent: u32, env: &[(&str, &str)]) -> ProcessFacts {
        ProcessFacts {
            id: ProcessId {
                pid,
                start_time: 700,
            },
            parent: Some(parent),
            name: format!("p{pid}"),
            exe: None,
            cwd: None,
            cmd: Vec::new(),
            env: env
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
            zombie: false,
        }
    }

    const OURS: [(&str, &str); 3] = [(ENV_SESSION, "demo"), (ENV_OWNER, "local"), (ENV_ID, "abc")];

    #[test]
    fn a_process_is_ours_by_environment_ledger_or_place() {
        let folder = Utf8Path::new("/w/.cp9/demo");
        let mut by_place = process(4, 1, &[]);
        by_place.cwd = Some("/w/.cp9/demo/run/x".into());
        let mut neighbour = process(5, 1, &[]);
        neighbour.cwd = Some("/w/.cp9/demo-two".into());
        let other_id = process(
            6,
            1,
            &[(ENV_SESSION, "demo"), (ENV_OWNER, "local"), (ENV_ID, "xyz")],
        );
        let reused = process(7, 1, &[]);
        let all = [
            process(2, 1, &OURS),
            process(3, 1, &[]),
            by_place,
            neighbour,
            other_id,
            reused,
        ];
        let entry = |pid, start_time| LedgerEntry::Process {
            pid,
            start_time,
            what: "svc".into(),
        };
        let ledger = Ledger {
            entries: vec![entry(3, 701), entry(7, 100)],
        };
        let found = select(&all, 99, &scope(), folder, &ledger);
        let pairs: Vec<_> = found
            .iter()
            .map(|f| (f.id.as_str(), f.because.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("2", "environment"),
                ("3", "ledger"),
                ("4", "working directory")
            ]
        );
    }

    #[test]
    fn neither_itself_nor_what_it_descends_from_is_selected() {
        let all = [
            process(10, 1, &OURS),
            process(11, 10, &OURS),
            process(12, 11, &OURS),
            process(13, 10, &OURS),
        ];
        let found = select(&all, 12, &scope(), Utf8Path::new("/w"), &Ledger::default());
        assert_eq!(
            found.iter().map(|f| f.id.as_str()).collect::<Vec<_>>(),
            ["13"]
        );
    }

    #[test]
    fn zombies_are_not_selected() {
        let mut dead = process(2, 1, &OURS);
        dead.zombie = true;
        assert!(
            select(
                &[dead],
                99,
                &scope(),
                Utf8Path::new("/w"),
                &Ledger::default()
            )
            .is_empty()
        );
    }
}
