//! `config_load`: the resolved session file is on disk.

use cp9_model::config;

use crate::error::EngineError;
use crate::run::{Ran, Run};

fn text(run: &Run<'_>) -> String {
    config::resolved_yaml(&run.config)
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&run.config)
}

pub(crate) fn observe(run: &Run<'_>) -> Result<bool, EngineError> {
    let path = run.session.folder.resolved();
    Ok(run.engine.doors.exists(&path) && run.engine.doors.read(&path)? == text(run).into_bytes())
}

pub(crate) fn run(run: &Run<'_>) -> Result<Ran, EngineError> {
    let path = run.session.folder.resolved();
    run.engine
        .doors
        .write_if_changed(&path, text(run).as_bytes(), 0o600)?;
    Ok(Ran::with("cp9.resolved.yaml"))
}
