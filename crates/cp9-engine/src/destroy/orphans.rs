//! Processes of a session whose folder is gone: removed by hand, or by a destroy that something outlived.
//! The registry and the destroy record still know their scope.

use cp9_cloud::local::Local;
use cp9_cloud::{Cloud as _, Found, Ledger, ProvenScope};
use cp9_model::{Owner, Scope};

use crate::dirs::Dirs;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::registry::Registry;

/// The scope that the registry recorded for a folder, unless it is `current`'s.
pub(crate) fn recorded(
    engine: &Engine,
    dirs: &Dirs,
    folder: &Folder,
    current: Option<&str>,
) -> Option<Scope> {
    let entry = Registry::new(&engine.doors, dirs).recorded(folder)?;
    (current != Some(entry.id.as_str())).then_some(Scope {
        owner: entry.owner.unwrap_or_else(|| Owner::new(Owner::LOCAL)),
        session: folder.name.parse().ok()?,
        id: entry.id,
    })
}

/// Ends what still carries a scope; how many it ended, and what is left.
pub(crate) async fn end(
    engine: &Engine,
    folder: &Folder,
    scope: Scope,
) -> Result<(u32, Vec<Found>), EngineError> {
    let cloud = Local::new(engine.doors.clone(), folder.root.clone());
    let proven = cloud.prove(scope).await?;
    let found = cloud.scan(&proven, &Ledger::default()).await?;
    let ended = purge(&cloud, &proven, &found).await;
    Ok((ended, cloud.scan(&proven, &Ledger::default()).await?))
}

/// Deletes what was found; how many of it are gone.
pub(super) async fn purge(cloud: &Local, proven: &ProvenScope, found: &[Found]) -> u32 {
    let mut gone = 0;
    for thing in found {
        // What could not be deleted is found again by the scan that follows, which decides.
        if cloud.delete(proven, thing).await.unwrap_or(false) {
            gone += 1;
        }
    }
    gone
}
