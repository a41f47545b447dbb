//! `cp9 up`: the states in order, then the controller.

use std::time::Duration;

use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::output::Target;
use cp9_model::report::{Progress, StateReport, UpReport};

use super::status;
use crate::begin::{begin, check};
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome};
use crate::run::Run;
use crate::states::session_ready::Verdict;
use crate::{drive, run, select, settled, states};

/// How `up` behaves.
#[derive(Debug, Clone, Default)]
pub struct UpOptions {
    /// Which session.
    pub select: Select,
    /// Do not start the controller; print the command that does.
    pub no_tilt: bool,
    /// Fail fast, with the result as exit code.
    pub ci: bool,
    /// Overall limit of the wait for the first verdicts.
    pub timeout: Option<Duration>,
}

/// Brings a session up.
pub async fn up(
    engine: &Engine,
    options: UpOptions,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<UpReport> {
    let checked = match check(engine, &options.select, progress) {
        Ok(checked) => checked,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let target = run::target(&checked.config, None);
    match begin(engine, &options, "up", checked, progress) {
        Ok(run) => bring_up(run).await,
        Err(error) => Outcome::failed(error, target),
    }
}

/// Brings an existing session in line with its session file for `deploy`, by the same states.
pub(super) async fn renew(
    engine: &Engine,
    select: Select,
    limit: Duration,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), EngineError> {
    let checked = check(engine, &select, progress)?;
    let options = UpOptions {
        select,
        timeout: Some(limit),
        ..UpOptions::default()
    };
    let mut run = begin(engine, &options, "deploy", checked, progress)?;
    run.mode.fail_fast = false;
    let driven = Box::pin(drive::drive(&mut run)).await;
    run.session.unlock();
    driven
}

/// What the session file says now.
pub(super) fn resolved(engine: &Engine, select: &Select) -> Result<ResolvedConfig, EngineError> {
    // Its warnings were told by `up`.
    check(engine, select, &mut |_| {}).map(|checked| checked.config)
}

async fn bring_up(mut run: Run<'_>) -> Outcome<UpReport> {
    let driven = Box::pin(drive::drive(&mut run)).await;
    let report = report(&run);
    let target = run.target();
    let error = driven
        .err()
        .or_else(|| verdict(&run, &report).map(EngineError::from));
    run.session.unlock();
    Outcome {
        report: Some(report),
        error,
        target,
    }
}

fn verdict(run: &Run<'_>, report: &UpReport) -> Option<Verdict> {
    if run.mode.generate_only {
        return None;
    }
    let red: Vec<&str> = report
        .services
        .iter()
        .filter(|service| !service.ready)
        .map(|service| service.name.as_str())
        .collect();
    (!red.is_empty()).then(|| Verdict::Red {
        session: report.session.clone(),
        names: red.join(", "),
    })
}

fn report(run: &Run<'_>) -> UpReport {
    let made = &run.made;
    let services = made.graph.as_ref().map(|graph| {
        settled::services(
            graph,
            made.plan.as_ref(),
            made.host.as_ref(),
            made.status.as_ref(),
        )
    });
    let states = status::states(&run.session.state)
        .into_iter()
        .map(|state| mark_kept(state, run))
        .collect();
    UpReport {
        session: run.session.folder.name.clone(),
        owner: run
            .session
            .state
            .owner
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        folder: run.session.folder.root.to_string(),
        states,
        services: services.unwrap_or_default(),
        handoff: run.mode.generate_only.then(|| states::handoff(run)),
    }
}

fn mark_kept(mut state: StateReport, run: &Run<'_>) -> StateReport {
    if run.made.kept.iter().any(|kept| kept.as_str() == state.name) {
        "kept".clone_into(&mut state.status);
    }
    state
}

/// Follows a ready session until cancelled; detaches, never stops it.
pub async fn attach(
    engine: &Engine,
    select: &Select,
    progress: &mut dyn FnMut(Progress),
) -> Outcome<UpReport> {
    let followed = follow(engine, select, progress).await;
    Outcome {
        report: None,
        error: followed.err(),
        target: Target::default(),
    }
}

async fn follow(
    engine: &Engine,
    select: &Select,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), EngineError> {
    let folder = select::folder(engine, select)?;
    let client = status::client(engine, &folder).await?;
    let mut watch = client.watch().await?;
    let mut last = None;
    loop {
        let next = tokio::select! {
            next = watch.next() => next?,
            () = engine.doors.cancel.cancelled() => return Ok(()),
        };
        // The session was paused or destroyed by someone else: there is nothing left to follow.
        let Some(next) = next else { return Ok(()) };
        for resource in &next.resources {
            let known = last
                .as_ref()
                .is_some_and(|last: &Vec<_>| last.contains(resource));
            if !known {
                progress(Progress::Resource(Box::new(resource.clone())));
            }
        }
        last = Some(next.resources);
    }
}
