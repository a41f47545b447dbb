//! `metadb_seed`: nothing to do for a session without a `metadb` block; a session with one is refused
//! before anything is made.

use crate::run::{Ran, Run};

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&run.config.extra.get("metadb"))
}

pub(crate) fn run() -> Ran {
    Ran::Skipped("the session file has no `metadb` block".into())
}
