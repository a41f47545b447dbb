//! One start of a service: the mark that everything it starts in turn carries, and the end of what outlives
//! its process group. A process that left the group would keep the port, and answer for the next version.

use std::time::Duration;

use cp9_model::scope::ENV_START;
use cp9_tools::Clock;
use cp9_tools::procs::{self, own_pid};
use tokio::task::JoinSet;

/// How long what left its group may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// The mark of a start, which no other start ever has.
pub(super) fn mark(clock: &Clock, resource: &str, number: u64) -> String {
    let now = clock.now().as_nanosecond();
    format!("{resource}/{}-{number}-{now:x}", own_pid())
}

/// Ends what still carries the mark of a start whose process has ended.
pub(super) async fn end_rest(mark: String) {
    let look = tokio::task::spawn_blocking(move || procs::marked(ENV_START, &mark));
    let mut ends = JoinSet::new();
    for id in look.await.unwrap_or_default() {
        ends.spawn(procs::stop(id, GRACE));
    }
    ends.join_all().await;
}
