//! `cp9 logs`: lines of the services, past and following.

use std::time::Duration;

use cp9_loop::logs::{self, Level, Query, TraceId};
use cp9_model::config::resolved::Trace;
use cp9_model::lifecycle::{SessionState, StateName, StateStatus};
use cp9_model::output::Target;
use cp9_model::report::LogLine;
use cp9_model::{Category, Explain};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::status::{self, OnDisk};
use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome};
use crate::folder::Folder;
use crate::select;

/// Which lines.
#[derive(Debug, Clone, Default)]
pub struct LogsOptions {
    /// Which session.
    pub select: Select,
    /// Only this service.
    pub service: Option<String>,
    /// Go on with new lines until cancelled.
    pub follow: bool,
    /// Only lines younger than this.
    pub since: Option<Duration>,
    /// Only lines of this level or worse: `debug`, `info`, `warn`, `error`.
    pub level: Option<String>,
    /// Everything there is, not only the last 200 lines of each service.
    pub all: bool,
    /// Only lines that carry this trace id, all of them.
    pub trace_id: Option<String>,
}

/// Why there are no logs to show.
#[derive(Debug, Error)]
enum NoLogs {
    /// The session is not far enough.
    #[error("session `{session}` is not ready: state `{state}` is {status}")]
    NotReady {
        session: String,
        state: StateName,
        status: &'static str,
    },
    /// There is no such level.
    #[error("no log level `{level}`")]
    NoLevel { level: String },
    /// That is no trace id.
    #[error("`{id}` is no trace id")]
    NoTrace { id: String, header: String },
    /// There is no such service.
    #[error("session `{session}` has no service `{service}`, only {known}")]
    NoService {
        session: String,
        service: String,
        known: String,
    },
}

impl Explain for NoLogs {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        match self {
            Self::NotReady { .. } => "session-not-ready",
            Self::NoService { .. } => "service-unknown",
            Self::NoLevel { .. } => "level-unknown",
            Self::NoTrace { .. } => "trace-id-invalid",
        }
    }
    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::NotReady { .. } => {
                "run `cp9 up` to its end first; `cp9 status` shows where it is".into()
            }
            Self::NoTrace { header, .. } => {
                format!("give one word, as it stands in the response header `{header}`")
            }
            Self::NoLevel { .. } => "use `debug`, `info`, `warn` or `error`".into(),
            Self::NoService { .. } => "name one of these, or none for all".into(),
        })
    }
}

/// Hands each line to `sink`; the report is the number of lines.
pub async fn logs(
    engine: &Engine,
    options: LogsOptions,
    sink: &mut dyn FnMut(LogLine),
) -> Outcome<usize> {
    let found = select::folder(engine, &options.select)
        .and_then(|folder| status::on_disk(engine, &folder).map(|disk| (folder, disk)));
    let (folder, disk) = match found {
        Ok(found) => found,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    status::touch(engine, &folder);
    let target = status::target(&disk);
    match show(engine, &options, &folder, &disk, sink).await {
        Ok(count) => Outcome {
            report: Some(count),
            error: None,
            target,
        },
        Err(error) => Outcome::failed(error, target),
    }
}

async fn show(
    engine: &Engine,
    options: &LogsOptions,
    folder: &Folder,
    disk: &OnDisk,
    sink: &mut dyn FnMut(LogLine),
) -> Result<usize, EngineError> {
    let services = services(options, disk)?;
    let since = options
        .since
        .map(|age| earlier(engine.doors.clock.now(), age));
    let trace = disk.config.as_ref().map(|config| config.trace.clone());
    let trace = trace.unwrap_or_default();
    let query = Query {
        services,
        since,
        min_level: options.level.as_deref().map(level).transpose()?,
        all: options.all || since.is_some() || options.trace_id.is_some(),
        trace: trace_id(options, &trace)?,
        trace_keys: trace.keys,
    };
    let mut count = 0;
    let mut counting = |line: LogLine| {
        count += 1;
        sink(line);
    };
    if options.follow {
        logs::follow(&engine.doors, &folder.root, &query, &mut counting).await?;
    } else {
        for line in logs::read(&engine.doors, &folder.root, &query)? {
            counting(line);
        }
    }
    Ok(count)
}

/// A moment so long before another; the beginning of time where there is none.
fn earlier(now: Timestamp, age: Duration) -> Timestamp {
    SignedDuration::try_from(age)
        .ok()
        .and_then(|age| now.checked_sub(age).ok())
        .unwrap_or(Timestamp::MIN)
}

fn level(word: &str) -> Result<Level, NoLogs> {
    Level::parse(word).ok_or_else(|| NoLogs::NoLevel {
        level: word.to_owned(),
    })
}

fn trace_id(options: &LogsOptions, trace: &Trace) -> Result<Option<TraceId>, NoLogs> {
    let parse = |id: &String| {
        TraceId::parse(id).map_err(|_| NoLogs::NoTrace {
            id: id.clone(),
            header: trace.header.clone(),
        })
    };
    options.trace_id.as_ref().map(parse).transpose()
}

/// True when an `up` ended before every service had its first verdict: its logs tell why.
fn ended_waiting(state: &SessionState) -> bool {
    let status = state.entry(StateName::SessionReady).status;
    let ended = matches!(status, StateStatus::Failed | StateStatus::Interrupted);
    ended && state.first_unsettled() == Some(StateName::SessionReady)
}

/// The services to show, once the session is far enough.
fn services(options: &LogsOptions, disk: &OnDisk) -> Result<Vec<String>, EngineError> {
    let session = disk.state.name.to_string();
    if let Some(state) = disk
        .state
        .first_unsettled()
        .filter(|_| !disk.state.was_ready() && !ended_waiting(&disk.state))
    {
        let status = disk.state.entry(state).status.word();
        return Err(NoLogs::NotReady {
            session,
            state,
            status,
        }
        .into());
    }
    let graph = disk.graph.iter().flat_map(|graph| &graph.services);
    let known: Vec<String> = graph.map(|node| node.name.to_string()).collect();
    match &options.service {
        None => Ok(known),
        Some(service) if known.contains(service) => Ok(vec![service.clone()]),
        Some(service) => {
            let known = known.join(", ");
            Err(NoLogs::NoService {
                session,
                service: service.clone(),
                known,
            }
            .into())
        }
    }
}
