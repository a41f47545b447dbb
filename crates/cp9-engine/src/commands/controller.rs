//! The hidden `cp9 controller serve --folder PATH`: the embedded controller's own process.

use camino::Utf8PathBuf;

use crate::engine::Engine;
use crate::error::EngineError;

/// Serves a session until it is told to stop or is killed.
pub async fn serve(_engine: &Engine, _folder: Utf8PathBuf) -> Result<(), EngineError> {
    todo!()
}
