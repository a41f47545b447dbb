//! SIGINT and SIGTERM ask the running command to end; they never end the process themselves, so
//! that a second one cannot tear a half-written step apart.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels `cancel` at the first SIGINT or SIGTERM, for as long as the runtime lives.
pub(crate) fn watch(cancel: CancellationToken) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                got = interrupt.recv() => if got.is_none() { return },
                got = terminate.recv() => if got.is_none() { return },
            }
            cancel.cancel();
        }
    });
    Ok(())
}
