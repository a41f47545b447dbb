//! The hidden `cp9 controller serve`, which `up` starts in the background.

use camino::Utf8PathBuf;
use clap::Subcommand;
use cp9_engine::Engine;
use cp9_engine::commands::controller;
use cp9_model::ExitCode;

use crate::cli::path;
use crate::error;
use crate::ui::Ui;

/// Commands of `controller`.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum ControllerCommand {
    /// Serve a session until told to stop
    Serve {
        /// The session folder
        #[arg(long, value_name = "PATH", value_parser = path)]
        folder: Utf8PathBuf,
    },
}

/// Serves the session.
pub(crate) async fn run(command: &ControllerCommand, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let ControllerCommand::Serve { folder } = command;
    match controller::serve(engine, folder.clone()).await {
        Ok(()) => {
            ui.finish(None, None, None);
            ExitCode::Success
        }
        Err(error) => {
            let body = error::redacted(error::body(&error), |text| {
                engine.doors.redactor.redact(text)
            });
            ui.fail(body);
            error.exit
        }
    }
}
