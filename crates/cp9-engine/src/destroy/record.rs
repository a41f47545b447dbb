//! What stays of a destroyed session: a small record in `.cp9/.destroyed/`.

use camino::Utf8PathBuf;
use cp9_model::report::{DestroyReport, StageReport};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::commands::status::NoSession;
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

/// The report of a session that was destroyed before; an error for one that never was.
pub(crate) fn already(engine: &Engine, folder: &Folder) -> Result<DestroyReport, EngineError> {
    let path = folder.destroy_record();
    if !engine.doors.exists(&path) {
        return Err(NoSession::Missing {
            name: folder.name.clone(),
        }
        .into());
    }
    Ok(DestroyReport {
        session: folder.name.clone(),
        already: true,
        stages: Vec::new(),
        survivors: Vec::new(),
        record: Some(path.into_string()),
    })
}

/// Writes the record, then takes the folder away.
pub(super) fn finish(
    engine: &Engine,
    folder: &Folder,
    id: &str,
    owner: &str,
    stages: &[StageReport],
) -> Result<Utf8PathBuf, EngineError> {
    let path = folder.destroy_record();
    let record = Record {
        api_version: "cp9.destroyed/v1".into(),
        session: folder.name.clone(),
        id: id.to_owned(),
        owner: owner.to_owned(),
        destroyed: engine.doors.clock.now(),
        stages: stages.to_vec(),
    };
    let mut bytes =
        serde_json::to_vec_pretty(&record).expect("a record is plain data and always serialises");
    bytes.push(b'\n');
    if let Some(dir) = path.parent() {
        engine.doors.create_private_dir(dir)?;
    }
    engine.doors.write_atomic(&path, &bytes, 0o600)?;
    engine.doors.rename(&folder.root, &removing(folder))?;
    sweep(engine, folder)?;
    Ok(path)
}
