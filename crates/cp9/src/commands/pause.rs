//! `cp9 pause`.

use clap::Args;
use cp9_engine::commands::pause;
use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use super::outcome::finish;
use crate::cli::Session;
use crate::render;
use crate::ui::Ui;

/// Arguments of `pause`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    pub(crate) session: Session,
}

/// Pauses the session.
pub(crate) async fn run(select: Select, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let outcome = pause::pause(engine, select).await;
    finish(engine, ui, outcome, render::pause::pause)
}
