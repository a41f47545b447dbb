//! The loop of `up`: for each state in order, keep it if it still holds, else run it. A first run and a
//! resumed one take the same path.

use cp9_model::lifecycle::{Budget, Event, Retry, StateName};

use crate::error::{EngineError, Interrupted};
use crate::fault::{self, Point};
use crate::run::{Ran, Run};
use crate::states;

/// Brings every state to its end, or stops at the first that fails.
pub(crate) async fn drive(run: &mut Run<'_>) -> Result<(), EngineError> {
    let mut budget = Budget {
        total: run.config.retry.total,
    };
    let at = run.engine.doors.clock.now();
    run.session.event(Event::Recovered { at })?;
    let order: Vec<StateName> = run.session.state.states.keys().copied().collect();
    for state in order {
        if run.engine.doors.cancel.is_cancelled() {
            return Err(Interrupted::error(Some(state.to_string()), "up"));
        }
        match look(run, state).await? {
            Look::Holds => {
                run.made.kept.push(state);
                run.tell(state, "kept", None);
            }
            Look::Gone => bring(run, state, &mut budget, None).await?,
            Look::Fails(error) => bring(run, state, &mut budget, Some(error)).await?,
        }
    }
    Ok(())
}

/// What became of a state that an earlier run has settled.
enum Look {
    /// It was done from the same input, and the world agrees that it still holds.
    Holds,
    /// It is to be made.
    Gone,
    /// It was to be proven anew, and making it would be the same question again.
    Fails(EngineError),
}

async fn look(run: &mut Run<'_>, state: StateName) -> Result<Look, EngineError> {
    let entry = run.session.state.entry(state);
    if !entry.status.is_settled() {
        return Ok(Look::Gone);
    }
    let same = entry.input.as_deref() == Some(states::input(run, state).as_str());
    let look = if same {
        let cancel = run.engine.doors.cancel.clone();
        tokio::select! {
            holds = states::observe(run, state) => match holds {
                Ok(true) => return Ok(Look::Holds),
                Err(error) if states::is_proven_anew(state) => Look::Fails(error),
                // A failing look is no verdict of its own: the run that follows meets the same problem.
                Ok(false) | Err(_) => Look::Gone,
            },
            () = cancel.cancelled(), if !states::ends_itself(state) => {
                return Err(Interrupted::error(Some(state.to_string()), "up"));
            }
        }
    } else {
        Look::Gone
    };
    run.session.event(Event::Invalidated { state })?;
    Ok(look)
}

/// Makes the state, the first time with the error that a look has already met.
async fn bring(
    run: &mut Run<'_>,
    state: StateName,
    budget: &mut Budget,
    mut met: Option<EngineError>,
) -> Result<(), EngineError> {
    let mut attempt = 1;
    loop {
        let error = match attempt_once(run, state, attempt, met.take()).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let at = run.engine.doors.clock.now();
        if run.engine.doors.cancel.is_cancelled() {
            run.session.event(Event::Interrupted { state, at })?;
            run.tell(state, "interrupted", None);
            return Err(Interrupted::error(Some(state.to_string()), "up"));
        }
        let last = error.last(&run.engine.doors.redactor);
        run.session.event(Event::Failed {
            state,
            at,
            error: last.clone(),
        })?;
        run.tell(
            state,
            run.session.state.entry(state).status.word(),
            Some(last.message),
        );
        match budget.decide(
            error.source.category(),
            attempt,
            run.config.retry.attempts(state.as_str()),
        ) {
            Retry::Stop => return Err(error),
            Retry::After(pause) => {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = run.engine.doors.cancel.cancelled() => {
                        return Err(Interrupted::error(Some(state.to_string()), "up"));
                    }
                }
            }
        }
        attempt += 1;
    }
}

/// One attempt, journaled before and after.
async fn attempt_once(
    run: &mut Run<'_>,
    state: StateName,
    attempt: u32,
    met: Option<EngineError>,
) -> Result<(), EngineError> {
    let at = run.engine.doors.clock.now();
    let input = states::input(run, state);
    run.session.event(Event::Started {
        state,
        at,
        input,
        attempt,
    })?;
    run.tell(state, "running", None);
    let doors = run.engine.doors.clone();
    fault::point(&doors, state, Point::Before).await?;
    if let Some(error) = met {
        return Err(error);
    }
    let ran = tokio::select! {
        ran = states::run(run, state) => ran?,
        () = doors.cancel.cancelled(), if !states::ends_itself(state) => return Err(Interrupted::error(Some(state.to_string()), "up")),
    };
    fault::point(&doors, state, Point::AfterEffect).await?;
    let at = doors.clock.now();
    match ran {
        Ran::Done(evidence) => {
            run.session.event(Event::Finished {
                state,
                at,
                evidence,
            })?;
            run.tell(state, "done", None);
        }
        Ran::Skipped(reason) => {
            run.session.event(Event::Skipped {
                state,
                at,
                reason: reason.clone(),
            })?;
            run.tell(state, "skipped", Some(reason));
        }
    }
    Ok(())
}
