//! SIGINT, SIGTERM and SIGHUP ask the running command to end; they never end the process themselves, so
//! that a second one cannot tear a half-written step apart.

use cp9_tools::procs;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `cancel` at the first of these signals, for as long as the runtime lives.
pub(crate) fn watch(cancel: &CancellationToken) -> std::io::Result<()> {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    if !procs::ignores_hangup() {
        kinds.push(SignalKind::hangup());
    }
    for kind in kinds {
        let (mut heard, cancel) = (signal(kind)?, cancel.clone());
        tokio::spawn(async move {
            while heard.recv().await.is_some() {
                cancel.cancel();
            }
        });
    }
    Ok(())
}
