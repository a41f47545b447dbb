//! `cp9 schema`.

use clap::{Args, ValueEnum};
use cp9_model::ExitCode;
use cp9_model::config::schema;
use serde_json::Value;

use crate::ui::{Format, Ui};

/// Arguments of `schema`.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct SchemaArgs {
    /// Which schema
    #[arg(value_name = "WHICH", default_value = "cp9")]
    which: Which,
}

/// The published schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// The session file, `cp9.yaml`
    Cp9,
    /// The dev plan, `tilt/dev-plan.json`
    Devplan,
    /// The session facts, `session-facts.json`
    Facts,
    /// What every command prints under `--json`
    Output,
}

/// Prints the schema.
pub(crate) fn run(args: &SchemaArgs, ui: &mut Ui) -> ExitCode {
    let published = published(args.which);
    if ui.format() == Format::Text {
        ui.text(&schema::text(&published));
    }
    ui.finish(Some(published), None, None);
    ExitCode::Success
}

fn published(which: Which) -> Value {
    match which {
        Which::Cp9 => schema::generate(),
        Which::Devplan => schema::devplan(),
        Which::Facts => schema::facts(),
        Which::Output => schema::output(),
    }
}
