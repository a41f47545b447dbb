//! Limits of the system: watched folders, watchers, open files.

mod watched;

use cp9_model::report::doctor::Finding;
use cp9_tools::machine::{self, Inotify};

use super::context::Context;

/// The check's name.
pub(super) const CHECK: &str = "limits";

/// Files that a controller has open besides those of its resources.
const CONTROLLER_FILES: u64 = 64;
/// Files that a controller has open for a resource: logs, pipes, a probe, and what it reads.
const RESOURCE_FILES: u64 = 16;

/// What the system allows, and what the session takes of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    inotify: Option<Inotify>,
    open_files: Option<u64>,
    /// Folders that the session will watch, besides those that are watched already.
    folders: u64,
    /// Watchers that it will have, besides those there are.
    watchers: u64,
    resources: u64,
}

/// Reads it.
pub(super) fn gather(context: &Context<'_>) -> Facts {
    let plan = context.disk().and_then(|disk| disk.plan.as_ref());
    // What a running controller watches is in the sums of the system.
    let waits = context.controller_state() != Some("running");
    let folders = match plan {
        Some(plan) if waits => watched::folders(plan),
        Some(_) => 0,
        None => watched::folders_of_sources(context.config()),
    };
    let resources = plan.map_or_else(
        || context.config().map_or(0, resources),
        |plan| plan.resources.len(),
    );
    Facts {
        inotify: machine::inotify(),
        open_files: machine::open_files(),
        folders: wide(folders),
        watchers: u64::from(waits),
        resources: wide(resources),
    }
}

fn resources(config: &cp9_model::config::resolved::ResolvedConfig) -> usize {
    let services = &config.services;
    services.source.len() * 2 + services.live.len() + services.stub.len()
}

fn wide(count: usize) -> u64 {
    count.try_into().unwrap_or(u64::MAX)
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(inotify) = &facts.inotify {
        findings.push(watches(facts, inotify));
        findings.push(instances(facts, inotify));
    }
    findings.extend(facts.open_files.map(|most| files(facts, most)));
    findings
}

fn watches(facts: &Facts, inotify: &Inotify) -> Finding {
    let key = "fs.inotify.max_user_watches";
    let need = inotify.watches.saturating_add(facts.folders);
    if need <= inotify.max_watches {
        let text = format!("{need} of {} watches needed", inotify.max_watches);
        return Finding::ok(CHECK, "watches", text).about(key);
    }
    let text = format!(
        "the session watches {} folders, and {} of {} watches of this user are taken; \
         the controller will look every second instead",
        facts.folders, inotify.watches, inotify.max_watches
    );
    Finding::warning(CHECK, "watches-low", text)
        .about(key)
        .remedy(raise(key, need.saturating_mul(2)))
}

fn instances(facts: &Facts, inotify: &Inotify) -> Finding {
    let key = "fs.inotify.max_user_instances";
    let need = inotify.instances.saturating_add(facts.watchers);
    if need <= inotify.max_instances {
        let text = format!("{need} of {} watchers needed", inotify.max_instances);
        return Finding::ok(CHECK, "watchers", text).about(key);
    }
    let text = format!(
        "{} of {} watchers of this user are taken; the controller will look every second instead",
        inotify.instances, inotify.max_instances
    );
    Finding::warning(CHECK, "watchers-low", text)
        .about(key)
        .remedy(raise(key, need.saturating_mul(2)))
}

fn raise(key: &str, value: u64) -> String {
    format!("`sudo sysctl {key}={value}`")
}

fn files(facts: &Facts, most: u64) -> Finding {
    let need = CONTROLLER_FILES.saturating_add(facts.resources.saturating_mul(RESOURCE_FILES));
    let finding = if most >= need {
        let text = format!("{most} open files allowed, about {need} needed");
        Finding::ok(CHECK, "open-files", text)
    } else {
        let text = format!("{most} open files allowed, and the controller may need {need}");
        Finding::error(CHECK, "open-files-low", text)
            .remedy(format!("`ulimit -n {}`", need.max(1024)))
    };
    finding.about("RLIMIT_NOFILE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::{DoctorReport, Severity};

    fn facts() -> Facts {
        Facts {
            inotify: Some(Inotify {
                max_watches: 8192,
                max_instances: 128,
                watches: 8000,
                instances: 10,
            }),
            open_files: Some(1024),
            folders: 192,
            watchers: 1,
            resources: 8,
        }
    }

    fn bad(facts: &Facts) -> Vec<(String, Severity, i32)> {
        let findings = judge(facts);
        let exit = DoctorReport {
            findings: findings.clone(),
            ..DoctorReport::default()
        };
        let exit = i32::from(exit.exit().code());
        let bad = findings.into_iter().filter(|f| f.severity != Severity::Ok);
        bad.map(|f| (f.id, f.severity, exit)).collect()
    }

    #[test]
    fn what_just_fits_is_well() {
        assert_eq!(bad(&facts()), []);
        assert_eq!(bad(&Facts::default()), [], "a system without such limits");
    }

    #[test]
    fn too_few_watches_or_watchers_are_warnings() {
        let mut low = facts();
        low.folders = 193;
        assert_eq!(
            bad(&low),
            [("watches-low".to_owned(), Severity::Warning, 0)]
        );
        let mut full = facts();
        full.inotify = full.inotify.map(|inotify| Inotify {
            max_instances: 10,
            ..inotify
        });
        assert_eq!(
            bad(&full),
            [("watchers-low".to_owned(), Severity::Warning, 0)]
        );
        full.watchers = 0;
        assert_eq!(bad(&full), [], "the controller has its own already");
    }

    #[test]
    fn too_few_open_files_are_an_error() {
        let mut low = facts();
        low.open_files = Some(64 + 8 * 16);
        assert_eq!(bad(&low), []);
        low.open_files = Some(64 + 8 * 16 - 1);
        assert_eq!(
            bad(&low),
            [("open-files-low".to_owned(), Severity::Error, 3)]
        );
        let found = judge(&low).pop().expect("a finding");
        assert_eq!(found.remedy.as_deref(), Some("`ulimit -n 1024`"));
    }

    #[test]
    fn the_remedy_leaves_room() {
        let mut low = facts();
        low.folders = 10_000;
        let found = judge(&low).remove(0);
        let remedy = found.remedy.expect("a remedy");
        assert_eq!(remedy, "`sudo sysctl fs.inotify.max_user_watches=36000`");
    }
}
