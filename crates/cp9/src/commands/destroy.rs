//! `cp9 destroy`.

use clap::Args;
use cp9_engine::commands::destroy::{self, DestroyOptions};
use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use super::outcome::finish;
use crate::cli::Session;
use crate::render;
use crate::ui::Ui;

/// Arguments of `destroy`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Run the local cleanup again although it is marked as done
    #[arg(long)]
    force: bool,
    /// Ask nothing; needed without a terminal wherever a cloud is involved
    #[arg(long)]
    yes: bool,
}

/// Destroys the session.
pub(crate) async fn run(
    args: &DestroyArgs,
    select: Select,
    engine: &Engine,
    ui: &mut Ui,
) -> ExitCode {
    let options = DestroyOptions {
        select,
        force: args.force,
        yes: args.yes,
    };
    let outcome = destroy::destroy(engine, options, &mut |event| ui.progress(&event)).await;
    finish(engine, ui, outcome, render::destroy::destroy)
}
