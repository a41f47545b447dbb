//! `tilt_ready`: the session's controller runs this plan. In generate-only mode nothing is started and
//! the command that does it is the evidence.

use std::time::Duration;

use camino::Utf8PathBuf;
use cp9_loop::Controller as _;
use cp9_model::control::{Hello, Phase, ResourceStatus};
use cp9_model::{Category, Explain};
use cp9_tools::procs::{self, ProcessId};
use cp9_tools::program::Cmd;
use thiserror::Error;

use crate::commands::controller;
use crate::error::EngineError;
use crate::run::{Ran, Run};

/// How long a controller may take to answer its first question.
const START_LIMIT: Duration = Duration::from_secs(20);
/// The pause between two questions.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a controller of another build may take to end.
const STOP_GRACE: Duration = Duration::from_secs(30);

/// Variables that name files by which an identity is proven.
const IDENTITY_FILES: [&str; 4] = [
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CA_BUNDLE",
];

/// The controller did not come up.
#[derive(Debug, Error)]
enum StartError {
    /// It ended.
    #[error("the controller ended before it answered, see `{log}`{last}")]
    Ended { log: Utf8PathBuf, last: String },
    /// It does not answer.
    #[error("the controller did not answer within {} s, see `{log}`", START_LIMIT.as_secs())]
    Silent { log: Utf8PathBuf },
}

impl Explain for StartError {
    fn category(&self) -> Category {
        Category::Transient
    }
    fn code(&self) -> &'static str {
        "controller-not-started"
    }
    fn remedy(&self) -> Option<String> {
        Some("run `cp9 up` again; `cp9 status` shows the controller".into())
    }
}

/// Where the controller's own output goes.
fn log(run: &Run<'_>) -> Utf8PathBuf {
    run.session.folder.logs().join("controller.log")
}

/// The command that starts the controller.
pub(crate) fn argv(run: &Run<'_>) -> Vec<String> {
    let folder = run.session.folder.root.to_string();
    ["controller", "serve", "--folder"]
        .map(str::to_owned)
        .into_iter()
        .chain([folder])
        .collect()
}

/// The command that starts the controller, for a person to paste.
pub(crate) fn handoff(run: &Run<'_>) -> String {
    let scope = run.made.scope.as_ref().map(|proven| proven.scope().env());
    // What carries the scope is found by a destroy, however it was started.
    let env = scope
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={value}"));
    let words = ["env".to_owned()]
        .into_iter()
        .chain(env)
        .chain([run.engine.exe.to_string()])
        .chain(argv(run));
    words
        .map(|word| crate::commands::quote(&word))
        .collect::<Vec<_>>()
        .join(" ")
}

pub(crate) fn input(run: &Run<'_>) -> String {
    let plan = run
        .made
        .plan
        .as_ref()
        .map(cp9_model::devplan::DevPlan::digest);
    let files = run
        .made
        .rendered
        .as_ref()
        .map(|rendered| (&rendered.inputs, &rendered.secret_files));
    super::digest(&(plan, files, run.mode.generate_only, &run.session.state.id))
}

/// Who answers on the session's socket and will go on to: this session's controller, of this build, that
/// nobody told to stop; or nobody.
async fn hello(run: &Run<'_>) -> Option<Hello> {
    let mut client = run.client().await.ok()?;
    let hello = client.hello().await.ok()?;
    (hello.version == run.engine.version && !hello.stopping).then_some(hello)
}

fn fits(run: &Run<'_>, hello: &Hello) -> bool {
    let digest = run
        .made
        .plan
        .as_ref()
        .map(cp9_model::devplan::DevPlan::digest);
    Some(&hello.plan_digest) == digest.as_ref()
}

pub(crate) async fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    if run.mode.generate_only {
        return Ok(true);
    }
    if !hello(run).await.is_some_and(|hello| fits(run, &hello)) {
        return Ok(false);
    }
    // What failed for good gets another chance: `up` is always the way on.
    let status = run.client().await?.status().await?;
    let given_up =
        |resource: &ResourceStatus| matches!(resource.phase, Phase::Failed | Phase::Quiescent);
    Ok(!status.resources.iter().any(given_up))
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    if run.mode.generate_only {
        return Ok(Ran::with(format!("handoff: {}", handoff(run))));
    }
    if hello(run).await.is_some() {
        return reload(run).await;
    }
    end_other(run).await;
    start(run).await
}

/// A controller that lives takes the plan over and changes only what differs.
async fn reload(run: &Run<'_>) -> Result<Ran, EngineError> {
    let hello = run.client().await?.reload().await?;
    Ok(Ran::with(format!(
        "controller runs plan {}",
        hello.plan_digest
    )))
}

/// A controller that holds the lock but does not answer as this build does, or is about to end, is waited
/// for and ended, with its children.
async fn end_other(run: &Run<'_>) {
    if let Some(id) = controller::process(&run.session.folder) {
        procs::stop(id, STOP_GRACE).await;
    }
}

async fn start(run: &Run<'_>) -> Result<Ran, EngineError> {
    let scope = run.made.scope()?.scope().clone();
    let mut cmd = Cmd::new(run.engine.exe.to_string())
        .args(argv(run))
        .inherit_env()
        .remove_env("CP9_FAULT")
        .cwd(run.session.folder.root.clone());
    for (key, value) in scope.env() {
        cmd = cmd.env(key, value);
    }
    cmd = cmd.env("CP9_SESSION_CONTEXT", run.session.folder.facts());
    // The controller lives in another folder than this command, and proves the same identity.
    for name in IDENTITY_FILES {
        if let Some(path) = run
            .engine
            .doors
            .env
            .get(name)
            .filter(|path| !path.is_empty())
        {
            cmd = cmd.env(name, run.engine.cwd.join(path));
        }
    }
    let id = run.engine.doors.spawn_detached(&cmd, &log(run))?;
    let hello = answer(run, id).await?;
    Ok(Ran::with(format!(
        "controller runs plan {}",
        hello.plan_digest
    )))
}

async fn answer(run: &Run<'_>, id: ProcessId) -> Result<Hello, EngineError> {
    let clock = &run.engine.doors.clock;
    let deadline = clock.instant() + START_LIMIT;
    loop {
        if let Some(hello) = hello(run).await {
            return Ok(hello);
        }
        if !procs::is_alive(id) {
            return Err(StartError::Ended {
                log: log(run),
                last: last_line(run),
            }
            .into());
        }
        if clock.instant() > deadline {
            procs::stop(id, Duration::ZERO).await;
            return Err(StartError::Silent { log: log(run) }.into());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The last thing the controller said, as a clause.
fn last_line(run: &Run<'_>) -> String {
    let text = run.engine.doors.read_text(&log(run)).unwrap_or_default();
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .map(|line| format!(": {line}"))
        .unwrap_or_default()
}
