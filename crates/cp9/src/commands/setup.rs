//! `cp9 setup`.

use cp9_engine::commands::setup;
use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use super::outcome::finish;
use crate::render;
use crate::ui::Ui;

/// Proves what the session needs.
pub(crate) async fn run(select: Select, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let outcome = setup::setup(engine, select).await;
    finish(engine, ui, outcome, render::setup::setup)
}
