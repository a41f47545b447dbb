//! Processes that carry a scope and that nobody looks after: of this session without its controller knowing
//! them, or of a session whose folder is gone.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use cp9_model::report::doctor::Finding;
use cp9_model::scope::ENV_ID;
use cp9_tools::procs::{self, ProcessFacts};

use super::context::Context;
use super::registry;
use super::sheet::Gathered;
use crate::commands::controller;

/// The check's name.
pub(super) const CHECK: &str = "orphans";

/// The processes, and what is known of scopes.
#[derive(Debug)]
pub(super) struct Facts {
    processes: Vec<ProcessFacts>,
    own: u32,
    /// Sessions by folder id.
    scopes: BTreeMap<String, Session>,
    /// Processes that are looked after, with all below them.
    known: BTreeSet<u32>,
}

/// A session whose processes are looked for.
#[derive(Debug, Clone)]
struct Session {
    name: String,
    /// True if its folder is there, so that `destroy` knows it.
    there: bool,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    if let Some(info) = &context.busy {
        return Err(format!("process {} works on the session now", info.pid));
    }
    let stale = registry::stale(context).into_iter();
    let session = |name: &str, there: bool| Session {
        name: name.to_owned(),
        there,
    };
    let mut scopes: BTreeMap<String, Session> = stale
        .map(|entry| (entry.id, session(&entry.name, false)))
        .collect();
    let mut known = BTreeSet::new();
    if let Ok((folder, disk)) = context.needs_session() {
        scopes.insert(disk.state.id.clone(), session(&folder.name, true));
        known.extend(controller::holder(folder).map(|info| info.pid));
        known.extend(context.living().iter().map(|(_, id)| id.pid));
    }
    if scopes.is_empty() {
        return Err("no session".to_owned());
    }
    Ok(Facts {
        processes: context.processes.clone(),
        own: procs::own_pid(),
        scopes,
        known,
    })
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let parents: BTreeMap<u32, u32> = facts
        .processes
        .iter()
        .filter_map(|process| Some((process.id.pid, process.parent?)))
        .collect();
    let above_us: BTreeSet<u32> = line(&parents, facts.own).collect();
    let looked_after = |pid: u32| line(&parents, pid).any(|pid| facts.known.contains(&pid));
    let mut orphans: Vec<(&ProcessFacts, &Session)> = facts
        .processes
        .iter()
        .filter(|process| !process.zombie && !above_us.contains(&process.id.pid))
        .filter(|process| !looked_after(process.id.pid))
        .filter_map(|process| Some((process, facts.scopes.get(process.var(ENV_ID)?)?)))
        .collect();
    orphans.sort_by_key(|(process, _)| process.id.pid);
    let findings: Vec<Finding> = orphans
        .into_iter()
        .map(|(process, session)| orphan(process, session))
        .collect();
    if findings.is_empty() {
        return vec![Finding::ok(
            CHECK,
            "orphans-none",
            "every process of a scope is looked after",
        )];
    }
    findings
}

/// A process and all above it; the length of the line is bounded in case pids go round.
fn line(parents: &BTreeMap<u32, u32>, pid: u32) -> impl Iterator<Item = u32> {
    let next = |pid: &u32| parents.get(pid).copied();
    std::iter::successors(Some(pid), next).take(parents.len() + 1)
}

fn orphan(process: &ProcessFacts, session: &Session) -> Finding {
    let (pid, name) = (process.id.pid, &session.name);
    let here = |cwd: &Utf8PathBuf| cwd.as_str().contains("/terraform/source");
    if session.there && process.cwd.as_ref().is_some_and(here) {
        let text = format!(
            "process {pid} (`{}`) still works on the substrate of session `{name}`",
            process.name
        );
        return Finding::warning(CHECK, "terraform-at-work", text)
            .about(pid.to_string())
            .remedy("do not kill it: `cp9 up` waits for it, `cp9 pause` interrupts it");
    }
    let text = format!(
        "process {pid} (`{}`) belongs to session `{name}`{} and no controller looks after it",
        process.name,
        if session.there {
            ""
        } else {
            ", whose folder is gone,"
        }
    );
    let remedy = if session.there {
        format!("`kill {pid}`; `cp9 destroy` ends it with the session")
    } else {
        format!("`kill {pid}`")
    };
    Finding::warning(CHECK, "orphan-process", text)
        .about(pid.to_string())
        .remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_tools::ProcessId;

    fn process(pid: u32, parent: u32, id: &str) -> ProcessFacts {
        ProcessFacts {
            id: ProcessId { pid, start_time: 1 },
            parent: Some(parent),
            name: format!("p{pid}"),
            exe: None,
            cwd: None,
            cmd: Vec::new(),
            env: vec![(ENV_ID.to_owned(), id.to_owned())],
            zombie: false,
        }
    }

    fn facts(processes: Vec<ProcessFacts>) -> Facts {
        Facts {
            processes,
            own: 50,
            scopes: [("ours", "demo", true), ("gone", "old", false)]
                .map(|(id, name, there)| {
                    let name = name.to_owned();
                    (id.to_owned(), Session { name, there })
                })
                .into(),
            known: [10, 20].into(),
        }
    }

    #[test]
    fn what_the_controller_and_its_children_started_is_no_orphan() {
        let found = judge(&facts(vec![
            process(10, 1, "ours"),
            process(11, 10, "ours"),
            process(20, 1, "ours"),
            process(21, 20, "ours"),
            process(30, 1, "ours"),
            process(31, 30, "ours"),
            process(40, 1, "gone"),
            process(41, 1, "somebody else's"),
        ]));
        let pids: Vec<_> = found.iter().filter_map(|f| f.subject.as_deref()).collect();
        assert_eq!(pids, ["30", "31", "40"]);
        assert!(found[2].finding.contains("`old`, whose folder is gone"));
        assert_eq!(found[2].remedy.as_deref(), Some("`kill 40`"));
    }

    #[test]
    fn neither_zombies_nor_what_runs_this_command_are_orphans() {
        let mut dead = process(30, 1, "ours");
        dead.zombie = true;
        let found = judge(&facts(vec![
            dead,
            process(49, 1, "ours"),
            process(50, 49, "ours"),
        ]));
        assert_eq!(found[0].id, "orphans-none");
    }

    #[test]
    fn parents_that_go_round_end() {
        let found = judge(&facts(vec![
            process(60, 61, "ours"),
            process(61, 60, "ours"),
        ]));
        assert_eq!(found.len(), 2);
    }
}
