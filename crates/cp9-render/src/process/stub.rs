//! A stub as a process: cp9's own server, on one loopback port that every port of its name leads to.
//!
//! A stub stands in the place of a service, so its name is its own: a Service of the same name in
//! the manifests of another service is refused if it leads to that service's process. One that
//! leads to no process of the session describes the very dependency that the stub replaces, and
//! the stub answers for it.

use camino::Utf8Path;
use cp9_model::Diagnostic;
use cp9_model::config::resolved::{ResolvedConfig, StubService};
use cp9_model::devplan::{Check, FileSpec, PortSpec, Probe};
use cp9_model::graph::ServiceNode;
use cp9_model::host::PortWanted;
use indexmap::IndexMap;

use super::report::ServiceContext;
use super::{ProcessWorkload, Session, environment, translate, workload};
use crate::argo::ServiceInput;
use crate::problem;
use crate::tree::FileTree;

/// cp9's own executable, before the plan knows its name.
pub(crate) const CP9: &str = "${bin}/cp9";

/// The port of a stub in the manifests' world. Every other port of its name means the same.
const PORT: u16 = 80;
/// Where every stub says that it is well, whatever its definition says.
const HEALTH: &str = "/__cp9/healthz";
/// Seconds between the stop signal and the kill: a stub has nothing to finish.
const GRACE_SECONDS: u32 = 2;

/// What a stub adds to the result.
pub(super) struct Stub {
    pub workload: ProcessWorkload,
    /// Its definition, below `tilt/inputs`.
    pub files: FileTree,
    pub report: ServiceContext,
}

/// How a stub answers.
enum Answers<'a> {
    /// From an `OpenAPI` document.
    Definition { path: &'a str, bytes: &'a [u8] },
    /// With success, and a record of the request.
    Recorder { kind: &'a str, output: &'a str },
    /// With success, as the session file asks.
    Permissive,
    /// With success, as there is no definition.
    Undefined { path: Option<&'a str> },
}

/// The port of a stub.
pub(super) fn port(config: &ResolvedConfig) -> impl Iterator<Item = PortWanted> {
    config.services.stub.keys().map(|name| PortWanted {
        service: name.to_string(),
        container: PORT,
    })
}

/// Services of the manifests that a stub's name would be taken from.
pub(crate) fn collisions(config: &ResolvedConfig, inputs: &[ServiceInput]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for input in inputs {
        let Ok(chosen) = workload::choose(input, workload::run(config, &input.service)) else {
            continue;
        };
        for service in workload::services(input, &chosen) {
            let is_stub = |stub: &cp9_model::ServiceName| stub.as_str() == service.name;
            let manifest = input
                .manifests
                .iter()
                .find(|manifest| manifest.kind() == "Service" && manifest.name() == service.name);
            let Some(manifest) = manifest.filter(|_| config.services.stub.keys().any(is_stub))
            else {
                continue;
            };
            problems.push(manifest.problem(
                problem::STUB,
                "/metadata/name",
                format!(
                    "Service `{}` leads to service `{}`, and a stub of the session has the same name",
                    service.name, input.service
                ),
                format!(
                    "give the stub another name under `services.stub`, or leave the Service out by an override with `$patch: delete`; it is in force for `{}`",
                    input.service
                ),
            ));
        }
    }
    problems
}

/// Translates a stub.
pub(super) fn translate_stub(
    session: &Session<'_>,
    node: &ServiceNode,
) -> Result<Stub, Box<Diagnostic>> {
    let name = node.name.as_str();
    let refuse = |rest: &str, message: String, help: &str| {
        let pointer = format!("/services/stub/{name}{rest}");
        let found = problem::session(session.config, problem::STUB, pointer, message, help);
        Box::new(found)
    };
    let Some(stub) = session.config.services.stub.get(&node.name) else {
        return Err(refuse(
            "",
            format!("stub `{name}` is not under `services.stub`"),
            "run `cp9 up` again",
        ));
    };
    let Some(host) = session.host.port(name, PORT) else {
        return Err(refuse(
            "",
            format!("stub `{name}` has no loopback port"),
            "run `cp9 up` again, so that ports are allocated anew",
        ));
    };
    let answers = answers(session, node, stub)
        .map_err(|(rest, message, help)| refuse(rest, message, help))?;
    let mut files = FileTree::new();
    let mut laid = Vec::new();
    if let Answers::Definition { path, bytes } = answers {
        let below = definition_copy(name, Utf8Path::new(path));
        laid.push(FileSpec {
            path: definition(name, path),
            source: format!("${{session}}/tilt/inputs/{below}"),
            key: None,
        });
        files.insert(below.into(), bytes.to_vec());
    }
    Ok(Stub {
        workload: ProcessWorkload {
            argv: argv(session, name, &answers, host),
            built: false,
            cwd: private(name, "work"),
            env: env(session, name),
            secrets: Vec::new(),
            files: laid,
            dirs: dirs(session, name, &answers),
            ports: vec![PortSpec {
                name: "http".to_owned(),
                container: PORT,
                host,
            }],
            ready: ready(host),
            live: None,
            grace_seconds: GRACE_SECONDS,
            links: vec![format!("http://127.0.0.1:{host}")],
        },
        files,
        report: report(node, &answers),
    })
}

/// Where it is wrong, what, and what to do.
type Wrong = (&'static str, String, &'static str);

fn answers<'a>(
    session: &Session<'a>,
    node: &ServiceNode,
    stub: &'a StubService,
) -> Result<Answers<'a>, Wrong> {
    let name = &node.name;
    match stub.kind.as_str() {
        "swagger" => {
            let path = stub.definition.as_deref();
            Ok(match (path, session.definitions.get(name)) {
                (Some(path), Some(bytes)) => Answers::Definition { path, bytes },
                _ => Answers::Undefined { path },
            })
        }
        "undefined" => Ok(Answers::Undefined { path: None }),
        "permissive" => Ok(Answers::Permissive),
        kind @ ("metering-recorder" | "billing-recorder") => {
            let Some(output) = stub.output.as_deref() else {
                let message = format!("recorder `{name}` has no `output`");
                return Err(("", message, "add `output:` with the file to write"));
            };
            let (path, folder) = (Utf8Path::new(output), session.folder);
            let stubs = folder.join("stubs");
            if path.starts_with(folder) && (!path.starts_with(&stubs) || path == stubs) {
                let message = format!("`{output}` is a place of cp9's own in the session folder");
                let help = "write it below `.cp9/${name}/stubs/`, or outside of the session folder";
                return Err(("/output", message, help));
            }
            if !path.starts_with(folder) && is_read(session.config, path) {
                let message = format!("`{output}` is a file that this session is made from");
                let help = "name a file of its own, such as one below `.cp9/${name}/stubs/`";
                return Err(("/output", message, help));
            }
            Ok(Answers::Recorder { kind, output })
        }
        other => Err((
            "",
            format!("stubs of kind `{other}` are not in this build yet"),
            "use `swagger` with an OpenAPI document, or a `kind`",
        )),
    }
}

/// True for what the session file reads, and that file itself.
fn is_read(config: &ResolvedConfig, path: &Utf8Path) -> bool {
    let secrets = config.secrets.values().map(|inputs| &inputs.env_file);
    let definitions = config.services.stub.values().map(|stub| &stub.definition);
    let var_file = config.terraform.iter().map(|terraform| &terraform.var_file);
    let mut files = secrets.chain(definitions).chain(var_file).flatten();
    let apps = config.app_delivery.as_ref();
    path == config.file
        || files.any(|file| path == file)
        || apps.is_some_and(|apps| path.starts_with(&apps.repo))
}

/// The ending by which the definition is read; YAML reads JSON too.
fn extension(path: &str) -> &'static str {
    let extension = Utf8Path::new(path).extension().unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "json" => "json",
        "yml" => "yml",
        _ => "yaml",
    }
}

fn private(name: &str, folder: &str) -> String {
    format!("${{session}}/run/{name}/{folder}")
}

/// Where the session keeps its copy of a definition, below its inputs.
pub fn definition_copy(service: &str, definition: &Utf8Path) -> String {
    format!("stubs/{service}/openapi.{}", extension(definition.as_str()))
}

/// A contract that cannot be served, at the stub that names it.
pub fn contract_problem(
    config: &ResolvedConfig,
    service: &str,
    message: String,
    help: String,
) -> Diagnostic {
    let pointer = format!("/services/stub/{}", problem::token(service));
    problem::session(config, problem::CONTRACT, pointer, message, help)
}

/// Where the definition is laid for the process.
fn definition(name: &str, path: &str) -> String {
    private(name, &format!("root/openapi.{}", extension(path)))
}

fn argv(session: &Session<'_>, name: &str, answers: &Answers<'_>, port: u16) -> Vec<String> {
    let kind = match answers {
        Answers::Definition { .. } => "openapi",
        Answers::Recorder { kind, .. } => kind,
        Answers::Permissive | Answers::Undefined { .. } => "permissive",
    };
    let mut argv = vec![CP9, "stub", "serve", "--name", name, "--kind", kind]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    match answers {
        Answers::Definition { path, .. } => {
            argv.extend(["--definition".to_owned(), definition(name, path)]);
        }
        Answers::Recorder { output, .. } => {
            argv.extend(["--output".to_owned(), recording(session, output)]);
            argv.extend(["--hide-secrets-of".to_owned(), "${session}".to_owned()]);
        }
        Answers::Permissive | Answers::Undefined { .. } => {}
    }
    argv.extend(["--listen".to_owned(), format!("127.0.0.1:{port}")]);
    argv
}

/// A recording as the plan spells it; one outside of the session folder stays as it is.
fn recording(session: &Session<'_>, output: &str) -> String {
    match Utf8Path::new(output).strip_prefix(session.folder) {
        Ok(below) => format!("${{session}}/{below}"),
        Err(_) => output.to_owned(),
    }
}

fn env(session: &Session<'_>, name: &str) -> IndexMap<String, String> {
    let base = environment::base(name)
        .into_iter()
        .map(|(key, variable)| (key, variable.value));
    let scope = session.scope.env();
    base.chain(scope.map(|(key, value)| (key.to_owned(), value)))
        .collect()
}

fn dirs(session: &Session<'_>, name: &str, answers: &Answers<'_>) -> Vec<String> {
    let mut dirs: Vec<String> = ["home", "tmp", "work"]
        .map(|folder| private(name, folder))
        .into();
    if let Answers::Recorder { output, .. } = answers {
        let folder = recording(session, output);
        let folder = Utf8Path::new(&folder).parent().map(Utf8Path::as_str);
        // A folder of the user's own is none that cp9 makes or closes to others.
        dirs.extend(
            folder
                .filter(|folder| folder.starts_with("${session}"))
                .map(str::to_owned),
        );
    }
    dirs.sort();
    dirs
}

fn ready(port: u16) -> Probe {
    Probe {
        check: Check::Http {
            port,
            path: HEALTH.to_owned(),
            headers: IndexMap::new(),
        },
        period_seconds: 10,
        timeout_seconds: 1,
        failure_threshold: 3,
        success_threshold: 1,
    }
}

fn report(node: &ServiceNode, answers: &Answers<'_>) -> ServiceContext {
    let (word, file, remark) = match answers {
        Answers::Definition { path, .. } => ("openapi", Some(*path), None),
        Answers::Recorder { kind, .. } => (*kind, None, None),
        Answers::Permissive => ("permissive", None, None),
        Answers::Undefined { path } => {
            let remark = match path {
                Some(path) => format!("definition `{path}` does not exist"),
                None => "the session file names no definition".to_owned(),
            };
            ("permissive (definition missing)", None, Some(remark))
        }
    };
    ServiceContext {
        stub: Some(word.to_owned()),
        files: file.map(str::to_owned).into_iter().collect(),
        notes: remark.into_iter().collect(),
        ..translate::without_input(node)
    }
}
