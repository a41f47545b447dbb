//! `cp9 doctor`: every check, and what to do about what it found. It takes no lock and changes nothing.

use cp9_model::output::Target;
use cp9_model::report::DoctorReport;
use cp9_model::report::doctor::Severity;
use cp9_model::{Category, ExitCode, Explain};
use thiserror::Error;

use super::status;
use crate::checks::{self, Context};
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome};

/// A check found something that does not work.
#[derive(Debug, Error)]
#[error("{count} found", count = errors(*.count))]
struct Found {
    count: usize,
}

fn errors(count: usize) -> String {
    if count == 1 {
        "1 error".into()
    } else {
        format!("{count} errors")
    }
}

impl Explain for Found {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "doctor-errors"
    }
}

/// Runs every check, with a session or without one.
pub async fn doctor(engine: &Engine, select: Select) -> Outcome<DoctorReport> {
    let context = match Context::read(engine, &select).await {
        Ok(context) => context,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let sheet = checks::all(&context).await;
    // After the checks: one of them tells how long the session was not used.
    if let Some(folder) = &context.folder {
        status::touch(engine, folder);
    }
    let report = DoctorReport {
        session: context.folder.as_ref().map(|folder| folder.name.clone()),
        folder: context
            .folder
            .as_ref()
            .map(|folder| folder.root.to_string()),
        file: context.file.as_ref().map(ToString::to_string),
        findings: sheet.findings,
        skipped: sheet.skipped,
    };
    let count = report.of(Severity::Error).count();
    let error = (report.exit() != ExitCode::Success).then(|| EngineError::from(Found { count }));
    Outcome {
        target: context.target(),
        report: Some(report),
        error,
    }
}
