//! `substrate_init`, `substrate_plan`, `substrate_apply`: nothing to do for a session without a
//! `terraform` block; a session with one is refused before anything is made.

use crate::run::{Ran, Run};

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&run.config.terraform)
}

pub(crate) fn run() -> Ran {
    Ran::Skipped("the session file has no `terraform` block".into())
}
