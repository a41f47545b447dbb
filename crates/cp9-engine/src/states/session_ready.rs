//! `session_ready`: every resource has had a verdict, and the session facts are written.

use std::time::Duration;

use cp9_loop::Controller as _;
use cp9_model::control::ControllerStatus;
use cp9_model::lifecycle::StateName;
use cp9_model::report::Progress;
use cp9_model::{Category, ExitCode, Explain};
use thiserror::Error;

use crate::commands::status::NoSession;
use crate::error::EngineError;
use crate::run::{Ran, Run};
use crate::{facts, settled};

/// How `up` can end although every state is done, or because the last one is not.
#[derive(Debug, Error)]
pub(crate) enum Verdict {
    /// Some services are not ready.
    #[error("{count} of session `{session}`: {names}", count = services(.names))]
    Red {
        /// The session.
        session: String,
        /// The services.
        names: String,
    },
    /// No verdict in time.
    #[error("session `{session}` had no verdict on every service within {limit} s: {names}")]
    Late {
        /// The session.
        session: String,
        /// The limit in seconds.
        limit: u64,
        /// The resources without one.
        names: String,
    },
}

fn services(names: &str) -> String {
    match names.split(", ").count() {
        1 => "1 service is not ready".into(),
        count => format!("{count} services are not ready"),
    }
}

impl Explain for Verdict {
    fn category(&self) -> Category {
        Category::Permanent
    }
    fn code(&self) -> &'static str {
        match self {
            Self::Red { .. } => "services-not-ready",
            Self::Late { .. } => "no-verdict",
        }
    }
    fn exit(&self) -> ExitCode {
        ExitCode::Verdict
    }
    fn remedy(&self) -> Option<String> {
        let (Self::Red { names, .. } | Self::Late { names, .. }) = self;
        let service = names.split(", ").next().unwrap_or_default();
        Some(format!(
            "see why with `cp9 status` and `cp9 logs {service}`; a save builds again"
        ))
    }
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        super::tilt_ready::input(run),
        &run.made.owner,
        &run.made.host,
    ))
}

pub(crate) async fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let path = run.session.folder.facts();
    let same = run.engine.doors.exists(&path)
        && run.engine.doors.read(&path)? == facts::bytes(run, !run.mode.generate_only)?;
    if !same || run.mode.generate_only {
        return Ok(same);
    }
    if !run.made.kept.contains(&StateName::TiltReady) {
        // The controller has just taken the plan over; what it makes of it is still to come.
        return Ok(false);
    }
    let status = run.client().await?.status().await?;
    let holds = settled::settled(run.made.plan()?, &status);
    run.made.status = Some(status);
    Ok(holds)
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let mut evidence = vec!["session-facts.json".to_owned()];
    if run.mode.generate_only {
        evidence.push("handoff".into());
    } else {
        let status = wait(run).await?;
        let ready = status
            .resources
            .iter()
            .filter(|resource| resource.ready)
            .count();
        evidence.push(format!(
            "{ready} of {} resources ready",
            status.resources.len()
        ));
        run.made.status = Some(status);
    }
    facts::write(run, !run.mode.generate_only)?;
    Ok(Ran::Done(evidence))
}

/// Follows the controller until every resource has a verdict.
async fn wait(run: &mut Run<'_>) -> Result<ControllerStatus, EngineError> {
    let mut watch = run.client().await?.watch().await?;
    let plan = run.made.plan()?.clone();
    let limit = run.mode.limit;
    let deadline = tokio::time::Instant::now() + limit;
    let mut last: Option<ControllerStatus> = None;
    loop {
        let next = match tokio::time::timeout_at(deadline, watch.next()).await {
            Ok(next) => next?.ok_or_else(|| NoSession::NoController {
                name: run.session.folder.name.clone(),
            })?,
            Err(_) => return Err(late(run, &plan, limit, last.as_ref()).into()),
        };
        tell_changes(run, last.as_ref(), &next);
        if let Some(failed) = settled::first_failed(&next).filter(|_| run.mode.fail_fast) {
            let names = failed.service.clone();
            run.made.status = Some(next);
            return Err(Verdict::Red {
                session: run.session.folder.name.clone(),
                names,
            }
            .into());
        }
        if settled::settled(&plan, &next) {
            return Ok(next);
        }
        last = Some(next);
    }
}

fn tell_changes(run: &mut Run<'_>, last: Option<&ControllerStatus>, next: &ControllerStatus) {
    for resource in &next.resources {
        let known = last.is_some_and(|last| last.resources.contains(resource));
        if !known {
            (run.progress)(Progress::Resource(Box::new(resource.clone())));
        }
    }
}

fn late(
    run: &Run<'_>,
    plan: &cp9_model::devplan::DevPlan,
    limit: Duration,
    last: Option<&ControllerStatus>,
) -> Verdict {
    let known = |name: &str| {
        last.is_some_and(|last| {
            last.resources
                .iter()
                .any(|other| other.name == name && other.verdict)
        })
    };
    let names = plan
        .resources
        .iter()
        .map(|resource| resource.name.as_str())
        .filter(|name| !known(name));
    Verdict::Late {
        session: run.session.folder.name.clone(),
        limit: limit.as_secs(),
        names: names.collect::<Vec<_>>().join(", "),
    }
}
