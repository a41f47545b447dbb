//! `cp9 logs`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use cp9_engine::commands::logs::{self, LogsOptions};
use cp9_engine::{Engine, Outcome, Select};
use cp9_model::ExitCode;
use cp9_model::report::LogLine;
use serde::Serialize;

use super::outcome::finish;
use crate::cli::{Session, span, text};
use crate::render;
use crate::render::style::clean;
use crate::ui::{Format, Ui};

/// Arguments of `logs`.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    pub(crate) session: Session,
    /// Only this service [default: every service]
    #[arg(value_name = "SVC", value_parser = text, conflicts_with = "service")]
    svc: Option<String>,
    /// The same as SVC
    #[arg(long, value_name = "SVC", value_parser = text)]
    service: Option<String>,
    /// Go on with new lines until interrupted
    #[arg(long)]
    pub(crate) follow: bool,
    /// Only lines younger than this, such as `5m`
    #[arg(long, value_name = "DURATION", value_parser = span)]
    since: Option<Duration>,
    /// Only lines of this level or worse
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// Every line there is, not only the last 200 of each service
    #[arg(long)]
    all: bool,
    /// Only lines that carry this trace id, all of them, of every service in the order of time
    #[arg(long, value_name = "ID", value_parser = text)]
    trace_id: Option<String>,
}

/// How bad a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// The report: how many lines, and the lines themselves unless they were streamed.
#[derive(Debug, Serialize)]
struct LogsReport {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LogLine>>,
}

/// One line as an event.
#[derive(Debug, Serialize)]
struct LogEvent<'a> {
    event: &'static str,
    #[serde(flatten)]
    line: &'a LogLine,
}

/// Prints the lines as they come.
pub(crate) async fn run(args: &LogsArgs, select: Select, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let options = LogsOptions {
        select,
        service: args.svc.clone().or_else(|| args.service.clone()),
        follow: args.follow,
        since: args.since,
        level: args.level.map(|level| level.word().to_owned()),
        all: args.all,
        trace_id: args.trace_id.clone(),
    };
    let mut kept = (ui.format() == Format::Envelope).then(Vec::new);
    let Outcome {
        report,
        error,
        target,
    } = logs::logs(engine, options, &mut |mut line| {
        line.text = engine.doors.redactor.redact(&line.text);
        match &mut kept {
            Some(kept) => kept.push(line),
            None => print(ui, engine, &line),
        }
    })
    .await;
    if let Some(id) = args.trace_id.as_ref().filter(|_| report == Some(0)) {
        ui.remark(&format!("no line carries the trace id `{}`", clean(id)));
    }
    let report = report.map(|count| LogsReport { count, lines: kept });
    // A reader that has seen enough, as in `cp9 logs | head`, is the ordinary end.
    let error = error.filter(|_| !ui.closed());
    finish(
        engine,
        ui,
        Outcome {
            report,
            error,
            target,
        },
        |_| String::new(),
    )
}

fn print(ui: &mut Ui, engine: &Engine, line: &LogLine) {
    match ui.format() {
        Format::Text => ui.text(&render::logs::line(line)),
        Format::Envelope | Format::Lines => ui.json(&LogEvent { event: "log", line }),
    }
    if ui.closed() {
        engine.doors.cancel.cancel();
    }
}
