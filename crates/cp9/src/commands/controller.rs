//! The hidden `cp9 controller serve`, which `up` starts in the background, and `cp9 controller credentials`,
//! which the AWS profile of a session names.

use camino::Utf8PathBuf;
use clap::Subcommand;
use cp9_engine::Engine;
use cp9_engine::commands::{controller, credentials};
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
    /// Print credentials of the session for an AWS SDK
    Credentials {
        /// The session folder
        #[arg(long, value_name = "PATH", value_parser = path)]
        folder: Utf8PathBuf,
    },
}

/// Serves the session, or asks the one that does.
pub(crate) async fn run(command: &ControllerCommand, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let done = match command {
        ControllerCommand::Serve { folder } => controller::serve(engine, folder.clone())
            .await
            .map(|()| ui.finish(None, None, None)),
        ControllerCommand::Credentials { folder } => {
            let credentials = credentials::credentials(engine, folder.clone()).await;
            credentials.map(|printed| ui.text(printed.expose()))
        }
    };
    let Err(error) = done else {
        return ExitCode::Success;
    };
    let body = error::redacted(error::body(&error), |text| {
        engine.doors.redactor.redact(text)
    });
    ui.fail(body);
    error.exit
}
