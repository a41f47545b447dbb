//! What stays of a destroyed session: a small record in `.cp9/.destroyed/`.

use camino::Utf8PathBuf;
use cp9_model::report::StageReport;
use cp9_model::{Owner, Scope};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;

/// The record of a destroy.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    #[serde(rename = "apiVersion")]
    api_version: String,
    session: String,
    id: String,
    owner: String,
    destroyed: Timestamp,
    stages: Vec<StageReport>,
}

/// Where a folder waits for its removal, so that its name is free in one step.
fn removing(folder: &Folder) -> Utf8PathBuf {
    folder
        .dot_cp9()
        .join(".destroyed")
        .join(format!(".{}.removing", folder.name))
}

/// Removes what an interrupted destroy left to remove.
pub(crate) fn sweep(engine: &Engine, folder: &Folder) -> Result<(), EngineError> {
    Ok(engine.doors.remove_tree(&removing(folder))?)
}

/// What a session without a folder left: its record, and who it was.
pub(crate) fn scope(engine: &Engine, folder: &Folder) -> Option<Scope> {
    let bytes = engine.doors.read(&folder.destroy_record()).ok()?;
    let record: Record = serde_json::from_slice(&bytes).ok()?;
    Some(Scope {
        owner: Owner::new(&record.owner),
        session: folder.name.parse().ok()?,
        id: record.id,
    })
}

/// Forgets the record of an earlier session of this name.
pub(crate) fn forget(engine: &Engine, folder: &Folder) -> Result<(), EngineError> {
    Ok(engine.doors.remove_file(&folder.destroy_record())?)
}

/// Writes the record, then takes the folder away. A disk that has no room for the record has some once the
/// folder is gone.
pub(super) fn finish(
    engine: &Engine,
    folder: &Folder,
    scope: &Scope,
    stages: &[StageReport],
) -> Result<Utf8PathBuf, EngineError> {
    let written = write(engine, folder, scope, stages);
    match engine.doors.rename(&folder.root, &removing(folder)) {
        Ok(()) => sweep(engine, folder)?,
        Err(_) => engine.doors.remove_tree(&folder.root)?,
    }
    written.or_else(|_| write(engine, folder, scope, stages))
}

/// Writes the record.
pub(super) fn write(
    engine: &Engine,
    folder: &Folder,
    scope: &Scope,
    stages: &[StageReport],
) -> Result<Utf8PathBuf, EngineError> {
    let path = folder.destroy_record();
    let record = Record {
        api_version: "cp9.destroyed/v1".into(),
        session: folder.name.clone(),
        id: scope.id.clone(),
        owner: scope.owner.to_string(),
        destroyed: engine.doors.clock.now(),
        stages: stages.to_vec(),
    };
    let bytes = document::bytes(&record);
    if let Some(dir) = path.parent() {
        engine.doors.create_private_dir(dir)?;
    }
    engine.doors.write_atomic(&path, &bytes, 0o600)?;
    Ok(path)
}
