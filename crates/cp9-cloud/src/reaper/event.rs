//! What the reaper tells while it works: for people, and for the files that the next run begins with.

use std::time::Duration;

use cp9_model::reaper::{Key, Survivor};

/// What happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// The account was looked at.
    Looked {
        /// What will be deleted.
        going: usize,
        /// What stays and is reported.
        staying: usize,
    },
    /// What would be left if this run ended now; also what is deleted next.
    Left(&'a [Survivor]),
    /// An object is gone.
    Gone(&'a Key),
    /// An object takes longer.
    Waits {
        /// Which one.
        key: &'a Key,
        /// Since its first delete call.
        since: Duration,
        /// What it waits for.
        why: &'a str,
    },
    /// Something is tried again after a pause.
    Pass {
        /// Which time.
        pass: u32,
        /// How long the pause is.
        pause: Duration,
    },
}

/// Where events go.
pub type Tell<'a> = &'a mut (dyn FnMut(Event<'_>) + 'a);
