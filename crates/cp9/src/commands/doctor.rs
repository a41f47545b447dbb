//! `cp9 doctor`.

use clap::Args;
use cp9_engine::commands::doctor;
use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use super::outcome::finish;
use crate::cli::Session;
use crate::render;
use crate::ui::Ui;

/// Arguments of `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) session: Session,
}

/// Runs every check.
pub(crate) async fn run(select: Select, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let outcome = doctor::doctor(engine, select).await;
    finish(engine, ui, outcome, render::doctor::doctor)
}
