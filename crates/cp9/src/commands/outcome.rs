//! Prints what the engine answered: the report on stdout, the error where errors go.

use cp9_engine::{Engine, Outcome};
use cp9_model::ExitCode;
use serde::Serialize;

use crate::error;
use crate::ui::{Format, Ui};

/// Ends a command with its outcome; `render` is the report's text.
pub(crate) fn finish<T: Serialize>(
    engine: &Engine,
    ui: &mut Ui,
    outcome: Outcome<T>,
    render: impl FnOnce(&T) -> String,
) -> ExitCode {
    let Outcome {
        report,
        error,
        target,
    } = outcome;
    let code = error.as_ref().map_or(ExitCode::Success, |error| error.exit);
    let body = error.map(|error| {
        error::redacted(error::body(&error), |text| {
            engine.doors.redactor.redact(text)
        })
    });
    let mut data = None;
    match &report {
        Some(report) if ui.format() == Format::Text => ui.text(&render(report)),
        Some(report) => data = Some(serde_json::to_value(report).expect("reports are plain data")),
        None => {}
    }
    ui.finish(data, body, Some(target));
    code
}
