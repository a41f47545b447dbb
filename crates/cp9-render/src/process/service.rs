//! One service: its manifests, read and rewritten, become one process.

use std::collections::BTreeMap;

use cp9_model::Diagnostic;
use cp9_model::devplan::PortSpec;

use super::argv;
use super::context::{Context, Notes};
use super::environment::{self, Origin, Variables};
use super::lay::Laid;
use super::names::Names;
use super::rewrite::Rewriter;
use super::volumes::{self, Mount};
use super::{ProcessWorkload, patch, probes};
use crate::problem;
use crate::tree::FileTree;

/// What one service adds to the result.
pub(crate) struct Translated {
    pub workload: ProcessWorkload,
    pub patch: serde_json::Value,
    /// Contents of mounted files, below `tilt/inputs`.
    pub files: FileTree,
    pub secret_file: Option<String>,
    pub notes: Notes,
}

/// Translates a service; every problem is in the notes.
pub(crate) fn translate(
    context: &Context<'_>,
    names: &Names,
) -> Result<Translated, Vec<Diagnostic>> {
    let mut notes = Notes::default();
    let (mounts, found) = volumes::mounts(context);
    notes.problems.extend(found);
    let variables = environment::assemble(context, names, &mut notes);
    let links = environment::links(context, names);
    let command = argv::build(context, &links, &variables).unwrap_or_else(|found| {
        notes.problems.extend(found);
        argv::Command {
            argv: Vec::new(),
            built: false,
            own: true,
        }
    });
    let ports = context.allocated();
    let mut paths: Vec<String> = mounts.iter().map(|mount| mount.path.clone()).collect();
    paths.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    let rewriter = Rewriter {
        own: &context.node.name,
        ports: &ports,
        names,
        mounts: paths,
    };
    refuse_roots(context, &variables, &command, &mut notes);

    let mut laid = Laid::default();
    laid.environment(context, &rewriter, &variables, &mut notes);
    laid.mounts(context, &rewriter, &mounts, &mut notes);
    let argv = rewrite_argv(context, &rewriter, &command, &mut notes);
    let cwd = cwd(context, &mounts, &mut notes);
    check_told(context, &mounts, &mut notes);
    let (ready, live) = probes::build(context, &rewriter, &mut notes);
    if !notes.problems.is_empty() {
        return Err(notes.problems);
    }
    let workload = ProcessWorkload {
        argv,
        built: command.built,
        cwd,
        env: laid.env,
        secrets: laid.secrets,
        files: laid.files,
        dirs: dirs(context, &mounts),
        ports: port_specs(context, &ports),
        ready,
        live,
        grace_seconds: probes::grace(context),
        links: super::translate::links(context, &ports),
    };
    let patch = patch::build(context, &links, &variables);
    Ok(Translated {
        workload,
        patch,
        files: laid.contents,
        secret_file: laid.secret_file.content(),
        notes,
    })
}

/// Text of a manifest that a controller would take for one of the plan's roots.
fn refuse_roots(
    context: &Context<'_>,
    variables: &Variables,
    command: &argv::Command,
    notes: &mut Notes,
) {
    let root = |text: &str| {
        [
            "${session}",
            "${cache}",
            "${bin}",
            "${output}",
            "${binary}",
            "${src-",
            "${work-",
        ]
        .into_iter()
        .find(|root| text.contains(root))
    };
    let mut refuse = |what: String, text: &str| {
        if let Some(root) = root(text) {
            notes.problems.push(context.problem(
                problem::ENV,
                &context.workload.at,
                format!(
                    "{what} of service `{}` holds `{root}`, which means a folder of cp9",
                    context.name()
                ),
                "use another name for the placeholder",
            ));
        }
    };
    for (name, variable) in variables
        .iter()
        .filter(|(_, variable)| variable.origin == Origin::Manifest && !variable.secret)
    {
        refuse(format!("variable `{name}`"), &variable.value);
    }
    if !command.own {
        for word in command.argv.iter().skip(1) {
            refuse(format!("argument `{word}`"), word);
        }
    }
}

fn rewrite_argv(
    context: &Context<'_>,
    rewriter: &Rewriter<'_>,
    command: &argv::Command,
    notes: &mut Notes,
) -> Vec<String> {
    let root = context.plan_root();
    rewriter
        .argv(&command.argv, &root)
        .into_iter()
        .enumerate()
        .map(|(index, arg)| notes.take(&format!("argv/{index}"), arg, &root, &root))
        .collect()
}

fn cwd(context: &Context<'_>, mounts: &[Mount], notes: &mut Notes) -> String {
    if let Some(workdir) = &context.run.workdir {
        return workdir.clone();
    }
    let wanted = context.workload.container["workingDir"]
        .as_str()
        .unwrap_or_default()
        .trim_end_matches('/');
    let under =
        |mount: &&Mount| !mount.is_file() && camino::Utf8Path::new(wanted).starts_with(&mount.path);
    match mounts
        .iter()
        .filter(under)
        .max_by_key(|mount| mount.path.len())
    {
        Some(mount) if !wanted.contains("..") => {
            notes.mounts.insert(mount.path.clone());
            format!("{}{wanted}", context.plan_root())
        }
        _ => private(context, "work"),
    }
}

fn private(context: &Context<'_>, folder: &str) -> String {
    format!("${{session}}/run/{}/{folder}", context.name())
}

fn dirs(context: &Context<'_>, mounts: &[Mount]) -> Vec<String> {
    let mut dirs: Vec<String> = ["home", "tmp", "work"]
        .map(|folder| private(context, folder))
        .into();
    let folders = mounts.iter().filter(|mount| !mount.is_file());
    dirs.extend(folders.map(|mount| format!("{}{}", context.plan_root(), mount.path)));
    let wanted = context.workload.container["workingDir"]
        .as_str()
        .unwrap_or_default()
        .trim_end_matches('/');
    if mounts
        .iter()
        .any(|mount| camino::Utf8Path::new(wanted).starts_with(&mount.path))
        && !wanted.contains("..")
    {
        dirs.push(format!("{}{wanted}", context.plan_root()));
    }
    dirs.sort();
    dirs.dedup();
    dirs
}

fn port_specs(context: &Context<'_>, allocated: &BTreeMap<u16, u16>) -> Vec<PortSpec> {
    let spec = |port: &super::workload::ContainerPort| {
        let name = port
            .name
            .clone()
            .unwrap_or_else(|| format!("port-{}", port.number));
        Some(PortSpec {
            name,
            container: port.number,
            host: *allocated.get(&port.number)?,
        })
    };
    context.ports.iter().filter_map(spec).collect()
}

/// Every port must be told to the process, and every file that is laid must be named by something.
fn check_told(context: &Context<'_>, mounts: &[Mount], notes: &mut Notes) {
    let allocated = context.allocated();
    for port in &context.ports {
        let number = port.number;
        let name = port.name.clone().unwrap_or_else(|| number.to_string());
        if !allocated.contains_key(&number) {
            let message = format!(
                "port {number} of service `{}` has no loopback port",
                context.name()
            );
            notes.problems.push(context.problem(
                problem::PORT,
                &port.pointer,
                message,
                "run `cp9 up` again, so that ports are allocated anew",
            ));
        } else if !notes.ports.contains(&number) {
            notes.problems.push(context.problem(
                problem::PORT,
                &port.pointer,
                format!("nothing tells service `{}` its port {number}: no variable, argument or ConfigMap holds `:{number}`, `0.0.0.0:{number}`, `localhost:{number}` or a variable with the value `{number}`", context.name()),
                format!("let it read the port from a variable, and set `run.ports: {{{name}: VARIABLE}}` or that variable in the manifest; or add `ports/{name}` to `run.ignore` if it does not listen there"),
            ));
        }
    }
    for mount in mounts
        .iter()
        .filter(|mount| mount.must_be_named && !notes.mounts.contains(&mount.path))
    {
        let (path, volume) = (&mount.path, &mount.volume);
        notes.problems.push(context.problem(
            problem::VOLUME,
            &format!("{}/mountPath", mount.pointer),
            format!("nothing tells service `{}` where `{path}` is: no variable, argument or file names it, and a process has no root folder of its own", context.name()),
            format!("name the path in a variable or argument (`run.env` will do), or add `volumes/{volume}` to `run.ignore`"),
        ));
    }
}
