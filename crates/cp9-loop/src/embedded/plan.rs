//! Reading the dev plan and making its resources concrete: roots filled in, what this controller
//! cannot execute refused.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use cp9_model::devplan::{API_VERSION, Check, DevPlan, Probe, Resource, ResourceKind};
use cp9_tools::Doors;

use super::session::SessionFolderPaths;
use crate::controller::ControllerError;

/// Reads and checks the plan on disk.
pub(super) fn read(doors: &Doors, paths: &SessionFolderPaths) -> Result<DevPlan, ControllerError> {
    let path = paths.plan();
    let text = doors
        .read_text(&path)
        .map_err(|source| ControllerError::PlanFile { source })?;
    let plan: DevPlan =
        serde_json::from_str(&text).map_err(|source| ControllerError::PlanFormat {
            path: path.clone(),
            source,
        })?;
    check(&plan).map_err(|reason| ControllerError::Plan { path, reason })?;
    Ok(plan)
}

fn check(plan: &DevPlan) -> Result<(), String> {
    if plan.api_version != API_VERSION {
        return Err(format!(
            "version `{}` is not `{API_VERSION}`",
            plan.api_version
        ));
    }
    let mut names = BTreeSet::new();
    for resource in &plan.resources {
        let name = &resource.name;
        let is_plain =
            |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        if !is_plain(name) || !is_plain(&resource.service) {
            return Err(format!(
                "resource `{name}` of service `{}` has no plain name",
                resource.service
            ));
        }
        if !names.insert(name.as_str()) {
            return Err(format!("resource `{name}` is there twice"));
        }
        if resource.kind == ResourceKind::Apply {
            return Err(format!(
                "resource `{name}` applies to a cluster, which this controller does not do"
            ));
        }
        if resource.argv.is_empty()
            && (resource.kind == ResourceKind::Build || resource.binary.is_none())
        {
            return Err(format!("resource `{name}` has no command"));
        }
        if resource.kind == ResourceKind::Serve && resource.ready.is_none() {
            return Err(format!("resource `{name}` does not say when it is ready"));
        }
    }
    for resource in &plan.resources {
        if let Some(dep) = resource
            .deps
            .iter()
            .find(|dep| !names.contains(dep.as_str()))
        {
            return Err(format!(
                "resource `{}` depends on `{dep}`, which is not in the plan",
                resource.name
            ));
        }
    }
    Ok(())
}

/// A resource with the roots of its plan filled in; `${output}` stays.
pub(super) fn concrete(plan: &DevPlan, resource: &Resource) -> Resource {
    let text = |text: &String| plan.expand(text);
    let all = |texts: &[String]| texts.iter().map(text).collect::<Vec<_>>();
    let mut full = resource.clone();
    full.watch = all(&resource.watch);
    full.argv = all(&resource.argv);
    full.cwd = text(&resource.cwd);
    full.dirs = all(&resource.dirs);
    full.binary = resource.binary.as_ref().map(text);
    for value in full.env.values_mut() {
        *value = plan.expand(value);
    }
    for secret in &mut full.secrets {
        secret.file = plan.expand(&secret.file);
    }
    for file in &mut full.files {
        file.path = plan.expand(&file.path);
        file.source = plan.expand(&file.source);
    }
    for probe in [&mut full.ready, &mut full.live].into_iter().flatten() {
        fill(plan, probe);
    }
    full
}

fn fill(plan: &DevPlan, probe: &mut Probe) {
    if let Check::Exec { argv } = &mut probe.check {
        for word in argv {
            *word = plan.expand(word);
        }
    }
}

/// The digest of all that a process is started from besides its binary: its entry, and the
/// content of the files and secrets that the entry names.
pub(super) fn launch_digest(doors: &Doors, resource: &Resource) -> String {
    let mut sources: BTreeSet<&str> = resource
        .files
        .iter()
        .map(|file| file.source.as_str())
        .collect();
    sources.extend(resource.secrets.iter().map(|secret| secret.file.as_str()));
    let contents: Vec<(&str, Option<String>)> = sources
        .into_iter()
        .map(|path| (path, doors.digest(path.into()).ok()))
        .collect();
    digest(&(launched(resource), contents))
}

/// The digest of a build's entry: what makes its product another one, besides the files.
pub(super) fn build_digest(resource: &Resource) -> String {
    digest(&(
        &resource.argv,
        &resource.cwd,
        &resource.env,
        &resource.binary,
    ))
}

/// What decides how a process is started; probes, links and order may change under it.
fn launched(resource: &Resource) -> Resource {
    Resource {
        watch: Vec::new(),
        ignore: Vec::new(),
        ready: None,
        live: None,
        deps: Vec::new(),
        links: Vec::new(),
        live_update: Vec::new(),
        trigger: cp9_model::devplan::Trigger::Auto,
        grace_seconds: 0,
        ..resource.clone()
    }
}

fn digest<T: serde::Serialize>(value: &T) -> String {
    cp9_model::digest::value(value).expect("plan entries are plain data and always serialise")
}

/// The folder that a build's products lie in.
pub(super) fn live_dir(binary: &str) -> Utf8PathBuf {
    let binary = Utf8PathBuf::from(binary);
    binary
        .parent()
        .map_or_else(|| Utf8PathBuf::from("."), camino::Utf8Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(resources: &str) -> Result<(), String> {
        let text = format!(
            r#"{{"apiVersion":"cp9.devplan/v1","session":"abc","roots":{{"session":"/s"}},"resources":[{resources}]}}"#
        );
        check(&serde_json::from_str::<DevPlan>(&text).expect("a plan"))
    }

    fn entry(name: &str, kind: &str, rest: &str) -> String {
        format!(
            r#"{{"name":"{name}","service":"api","kind":"{kind}","cwd":"/","trigger":"auto"{rest}}}"#
        )
    }

    const RUN: &str = r#","argv":["a"],"ready":{"check":{"type":"alive","millis":1},
        "period_seconds":1,"timeout_seconds":1,"failure_threshold":1,"success_threshold":1}"#;

    #[test]
    fn what_cannot_be_executed_is_refused_by_name() {
        assert_eq!(plan(&entry("api", "serve", RUN)), Ok(()));
        for (resources, word) in [
            (entry("api", "apply", RUN), "cluster"),
            (entry("api", "serve", ""), "no command"),
            (
                entry("api", "serve", r#","argv":["a"]"#),
                "when it is ready",
            ),
            (entry("../x", "serve", RUN), "plain name"),
            (
                entry("api", "serve", &format!(r#"{RUN},"deps":["db"]"#)),
                "`db`",
            ),
            (
                [entry("api", "serve", RUN), entry("api", "serve", RUN)].join(","),
                "twice",
            ),
        ] {
            let reason = plan(&resources).expect_err(&resources);
            assert!(reason.contains(word), "{reason}");
        }
    }

    #[test]
    fn probes_and_links_do_not_restart_a_process_but_its_env_does() {
        let doors = Doors::new(
            cp9_tools::Environment::default(),
            cp9_tools::Clock::system(),
            false,
        );
        let read = |text: &str| serde_json::from_str::<Resource>(text).expect("a resource");
        let base = read(&entry("api", "serve", r#","argv":["a"]"#));
        let links = read(&entry(
            "api",
            "serve",
            r#","argv":["a"],"links":["http://x"]"#,
        ));
        let env = read(&entry("api", "serve", r#","argv":["a"],"env":{"A":"1"}"#));
        assert_eq!(launch_digest(&doors, &base), launch_digest(&doors, &links));
        assert_ne!(launch_digest(&doors, &base), launch_digest(&doors, &env));
    }
}
