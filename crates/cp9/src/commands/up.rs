//! `cp9 up`.

use std::time::Duration;

use clap::Args;
use cp9_engine::commands::up::{self, UpOptions};
use cp9_engine::{Engine, Outcome, Select};
use cp9_model::ExitCode;
use cp9_model::report::UpReport;

use super::outcome::finish;
use crate::cli::span;
use crate::render;
use crate::ui::{Format, Ui};

/// Arguments of `up`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct UpArgs {
    /// Prepare everything, but do not start the controller; print the command that does
    #[arg(long, conflicts_with_all = ["ci", "attach"])]
    no_tilt: bool,
    /// Fail at the first red service, with the verdict as exit code
    #[arg(long, conflicts_with = "attach")]
    ci: bool,
    /// Stay and follow the session; Ctrl-C detaches and leaves it running
    #[arg(long)]
    pub(crate) attach: bool,
    /// Give up waiting for the services after this long, such as `90s` or `15m`
    #[arg(long, value_name = "DURATION", value_parser = span)]
    timeout: Option<Duration>,
}

/// Brings the session up, and follows it if asked.
pub(crate) async fn run(args: &UpArgs, select: Select, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let UpArgs {
        no_tilt,
        ci,
        attach,
        timeout,
    } = *args;
    let options = UpOptions {
        select: select.clone(),
        no_tilt,
        ci,
        timeout,
    };
    let outcome = up::up(engine, options, &mut |event| ui.progress(&event)).await;
    if attach && stands(&outcome) {
        return follow(outcome, &select, engine, ui).await;
    }
    finish(engine, ui, outcome, render::up::up)
}

/// A session with red services stays up, and is worth following all the more.
fn stands(outcome: &Outcome<UpReport>) -> bool {
    outcome
        .error
        .as_ref()
        .is_none_or(|error| error.exit == ExitCode::Verdict)
}

async fn follow(
    ready: Outcome<UpReport>,
    select: &Select,
    engine: &Engine,
    ui: &mut Ui,
) -> ExitCode {
    if let Some(report) = ready
        .report
        .as_ref()
        .filter(|_| ui.format() == Format::Text)
    {
        ui.text(&render::up::up(report));
    }
    let mut outcome = up::attach(engine, select, &mut |event| ui.progress(&event)).await;
    outcome.report = outcome.report.or(ready.report);
    let detached =
        |report: &UpReport| format!("detached; session {} keeps running\n", report.session);
    finish(engine, ui, outcome, detached)
}
