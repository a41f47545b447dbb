//! `cp9 deploy`.

use std::time::Duration;

use clap::Args;
use cp9_engine::commands::deploy::{self, DeployOptions};
use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use super::outcome::finish;
use crate::cli::{Session, span, text};
use crate::render;
use crate::ui::Ui;

/// Arguments of `deploy`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct DeployArgs {
    #[command(flatten)]
    pub(crate) session: Session,
    /// The service
    #[arg(value_name = "SVC", value_parser = text)]
    svc: String,
    /// Give up after this long, such as `90s` [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = span)]
    timeout: Option<Duration>,
}

/// Deploys one service and proves which version runs.
pub(crate) async fn run(
    args: &DeployArgs,
    select: Select,
    engine: &Engine,
    ui: &mut Ui,
) -> ExitCode {
    let options = DeployOptions {
        select,
        service: args.svc.clone(),
        timeout: args.timeout,
    };
    let outcome = deploy::deploy(engine, options, &mut |event| ui.progress(&event)).await;
    finish(engine, ui, outcome, render::deploy::deploy)
}
