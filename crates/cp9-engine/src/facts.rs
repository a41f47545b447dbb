//! Writing the session facts: without verdicts by `context_materialize`, complete by `session_ready`.

use cp9_model::facts::{API_VERSION, ServiceFacts, SessionFacts};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::run::Run;
use crate::{document, settled};

/// The facts file's content.
pub(crate) fn bytes(run: &Run<'_>, complete: bool) -> Result<Vec<u8>, EngineError> {
    let made = &run.made;
    let services = made.graph()?.services.iter().map(|node| {
        let name = node.name.to_string();
        ServiceFacts {
            kind: node.kind,
            endpoint: settled::endpoint(&name, made.plan.as_ref(), made.host.as_ref()),
            ports: made
                .host
                .as_ref()
                .and_then(|host| host.ports.get(&name))
                .cloned()
                .unwrap_or_default(),
            name,
        }
    });
    let facts = SessionFacts {
        api_version: API_VERSION.to_owned(),
        session: run.session.folder.name.clone(),
        owner: made.owner()?.to_string(),
        id: run.session.state.id.clone(),
        folder: run.session.folder.root.to_string(),
        file: run.config.file.clone(),
        target: run.target(),
        services: services.collect(),
        complete,
    };
    Ok(document::bytes(&facts))
}

/// Says in the facts, if there are any, that no resource has a verdict any more.
pub(crate) fn retract(engine: &Engine, folder: &Folder) -> Result<(), EngineError> {
    let path = folder.facts();
    if !engine.doors.exists(&path) {
        return Ok(());
    }
    let bytes = engine.doors.read(&path)?;
    // What cannot be read says nothing to anybody, and the next `up` writes it anew.
    let Ok(mut facts) = serde_json::from_slice::<SessionFacts>(&bytes) else {
        return Ok(());
    };
    facts.complete = false;
    let bytes = document::bytes(&facts);
    engine.doors.write_if_changed(&path, &bytes, 0o600)?;
    Ok(())
}

/// Writes the facts.
pub(crate) fn write(run: &Run<'_>, complete: bool) -> Result<(), EngineError> {
    let bytes = bytes(run, complete)?;
    run.engine
        .doors
        .write_if_changed(&run.session.folder.facts(), &bytes, 0o600)?;
    Ok(())
}
