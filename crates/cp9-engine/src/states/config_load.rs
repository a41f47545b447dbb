//! `config_load`: the resolved session file is on disk, and the contracts that it names can be served.

use camino::Utf8Path;
use cp9_model::config;

use crate::contract;
use crate::error::EngineError;
use crate::run::{Ran, Run};

fn text(run: &Run<'_>) -> String {
    config::resolved_yaml(&run.config)
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&run.config)
}

pub(crate) fn observe(run: &Run<'_>) -> Result<bool, EngineError> {
    judge_contracts(run)?;
    let path = run.session.folder.resolved();
    Ok(run.engine.doors.exists(&path) && run.engine.doors.read(&path)? == text(run).into_bytes())
}

pub(crate) fn run(run: &Run<'_>) -> Result<Ran, EngineError> {
    judge_contracts(run)?;
    let path = run.session.folder.resolved();
    run.engine
        .doors
        .write_if_changed(&path, text(run).as_bytes(), 0o600)?;
    Ok(Ran::with("cp9.resolved.yaml"))
}

/// Refuses contracts that no stub can serve, before anything is made by them. What the session has a copy
/// of was judged before it was copied.
fn judge_contracts(run: &Run<'_>) -> Result<(), EngineError> {
    let inputs = run.session.folder.inputs();
    let is_new = |service: &str, path: &Utf8Path| {
        let copy = inputs.join(cp9_render::process::definition_copy(service, path));
        let doors = &run.engine.doors;
        !doors.exists(&copy) || doors.read(&copy).ok() != doors.read(path).ok()
    };
    let mut problems = Vec::new();
    for (service, path) in contract::named(&run.engine.doors, &run.config) {
        if is_new(service, &path)
            && let Err(fault) = (run.engine.judge_contract)(&path)
        {
            problems.push(cp9_render::process::contract_problem(
                &run.config,
                service,
                fault.text(),
                fault.remedy,
            ));
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(super::invalid(run, problems))
    }
}
