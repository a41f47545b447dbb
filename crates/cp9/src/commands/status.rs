//! `cp9 status`.

use std::time::Duration;

use clap::Args;
use cp9_engine::commands::status::{self, StatusOptions};
use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use super::outcome::finish;
use crate::cli::{Session, span};
use crate::render;
use crate::ui::Ui;

/// Arguments of `status`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Wait until every service is ready, at most this long [without a value: 5m]
    #[arg(
        long,
        value_name = "DURATION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5m",
        value_parser = span,
    )]
    wait: Option<Duration>,
}

/// Shows how the session is.
pub(crate) async fn run(
    args: &StatusArgs,
    select: Select,
    engine: &Engine,
    ui: &mut Ui,
) -> ExitCode {
    let outcome = status::status(
        engine,
        StatusOptions {
            select,
            wait: args.wait,
        },
    )
    .await;
    finish(engine, ui, outcome, render::status::status)
}
