//! What `cp9 logs` asks: past lines of some services merged in time order, and those that follow.
//! Works the same with the controller alive or dead.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::report::LogLine;
use cp9_model::{Category, Explain};
use cp9_tools::{Doors, FileError};
use jiff::Timestamp;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use thiserror::Error;
use tokio::sync::mpsc;

use super::archive::{Cursor, Entry};
use super::index::{Remainder, owner};
use super::parse::Level;
use super::record::Record;
use super::trace::{TraceId, trace_id};

/// Lines of each service that are shown unless all are asked for.
const LAST: usize = 200;
/// Notices that come together are answered together.
const GATHER: Duration = Duration::from_millis(20);
/// How often to look where the system gives no notice of changes.
const FALLBACK: Duration = Duration::from_millis(250);
/// How often to look whether the session is still there; no notice tells when a folder above moves.
const LOOK: Duration = Duration::from_secs(2);

/// Why logs cannot be read or kept.
#[derive(Debug, Error)]
pub enum LogsError {
    /// A file cannot be read.
    #[error("cannot read log `{path}`")]
    Read {
        /// The file or folder.
        path: Utf8PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder cannot be made.
    #[error("cannot create log folder `{path}`")]
    Write {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        source: FileError,
    },
    /// The indexing thread cannot be started.
    #[error("cannot start the thread that indexes logs")]
    Thread {
        /// Why.
        source: std::io::Error,
    },
}

impl Explain for LogsError {
    fn category(&self) -> Category {
        match self {
            Self::Thread { .. } => Category::Transient,
            Self::Read { .. } | Self::Write { .. } => Category::Permanent,
        }
    }
    fn code(&self) -> &'static str {
        match self {
            Self::Read { .. } => "log-unreadable",
            Self::Write { .. } => "log-unwritable",
            Self::Thread { .. } => "log-thread",
        }
    }
    fn remedy(&self) -> Option<String> {
        match self {
            Self::Read { path, .. } | Self::Write { path, .. } => {
                Some(format!("check the permissions of `{path}`"))
            }
            Self::Thread { .. } => None,
        }
    }
}

/// Which lines.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Only these services; none named means all.
    pub services: Vec<String>,
    /// Only lines from this moment on.
    pub since: Option<Timestamp>,
    /// Only lines of this level or worse; a line that names none counts as info.
    pub min_level: Option<Level>,
    /// Every line, not only the last 200 of each service.
    pub all: bool,
    /// The keys of lines that hold trace ids.
    pub trace_keys: Vec<String>,
    /// Only lines of this trace.
    pub trace: Option<TraceId>,
}

impl Query {
    fn wants_service(&self, service: &str) -> bool {
        self.services.is_empty() || self.services.iter().any(|wanted| wanted == service)
    }

    fn wants(&self, line: &LogLine) -> bool {
        let level = line
            .level
            .as_deref()
            .and_then(Level::parse)
            .unwrap_or(Level::Info);
        let young = || self.since.is_none_or(|since| time(line) >= since);
        let traced = || {
            let trace = self.trace.as_ref();
            trace.is_none_or(|id| id.marks(&line.text, &self.trace_keys))
        };
        self.min_level.is_none_or(|least| level >= least) && young() && traced()
    }

    /// Lines in the order of their times, each with its trace id. Times all have the same width,
    /// so that they sort as text too.
    fn told(&self, mut lines: Vec<LogLine>) -> Vec<LogLine> {
        lines.sort_by_cached_key(time);
        for line in &mut lines {
            line.time = format!("{:.6}", time(line));
            line.trace_id = trace_id(&line.text, &self.trace_keys);
        }
        lines
    }
}

fn time(line: &LogLine) -> Timestamp {
    line.time.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The lines there are, in the order of their times.
pub fn read(doors: &Doors, folder: &Utf8Path, query: &Query) -> Result<Vec<LogLine>, LogsError> {
    // Raw lines are redacted here; so the secrets must be known here too.
    crate::secrets::learn(doors, folder);
    Place::new(doors, folder, query).backlog(true)
}

/// Hands over the lines there are, then each new one, until the doors are cancelled or the session
/// is no more.
pub async fn follow(
    doors: &Doors,
    folder: &Utf8Path,
    query: &Query,
    sink: &mut dyn FnMut(LogLine),
) -> Result<(), LogsError> {
    crate::secrets::learn(doors, folder);
    // Held open, so that no other folder gets its number.
    let held = std::fs::File::open(folder).ok();
    let session = held.as_ref().and_then(|held| held.metadata().ok());
    let session = session.map(|facts| identity(&facts));
    let (wake_tx, mut wake_rx) = mpsc::channel(1);
    let watcher = watch(&folder.join("logs"), wake_tx);
    let mut place = Place::new(doors, folder, query);
    for line in place.backlog(false)? {
        sink(line);
    }
    loop {
        tokio::select! {
            () = doors.cancel.cancelled() => return Ok(()),
            _ = wake_rx.recv(), if watcher.is_some() => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(FALLBACK), if watcher.is_none() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
        while wake_rx.try_recv().is_ok() {}
        if std::fs::metadata(folder).ok().map(|facts| identity(&facts)) != session {
            return Ok(());
        }
        for line in place.news()? {
            sink(line);
        }
    }
}

/// By what a session's folder is known from another one of its name that takes its place.
fn identity(folder: &std::fs::Metadata) -> (u64, u64) {
    (folder.dev(), folder.ino())
}

fn watch(logs: &Utf8Path, wake_tx: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if !event.is_ok_and(|event| event.kind.is_access()) {
            // A full channel holds a notice already.
            let _ = wake_tx.try_send(());
        }
    })
    .ok()?;
    for dir in ["raw", "index"] {
        watcher
            .watch(logs.join(dir).as_std_path(), RecursiveMode::NonRecursive)
            .ok()?;
    }
    Some(watcher)
}

/// The last line that a reader has had of a resource.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Where it ends in the raw file.
    offset: u64,
    /// When it was.
    time: Timestamp,
    /// True when the index does not hold it yet.
    ahead: bool,
}

/// The latest lines of a service, and no more of them in memory than are wanted.
#[derive(Debug, Default)]
struct Latest {
    lines: BTreeMap<(Timestamp, usize), LogLine>,
    count: usize,
}

impl Latest {
    fn push(&mut self, line: LogLine, limit: Option<usize>) {
        self.count += 1;
        self.lines.insert((time(&line), self.count), line);
        if limit.is_some_and(|limit| self.lines.len() > limit) {
            self.lines.pop_first();
        }
    }

    fn into_lines(self) -> impl Iterator<Item = LogLine> {
        self.lines.into_values()
    }
}

/// How far a reader has come.
struct Place<'a> {
    doors: &'a Doors,
    folder: &'a Utf8Path,
    query: &'a Query,
    /// Place in each service's index.
    index: BTreeMap<String, Cursor>,
    raw: BTreeMap<String, Known>,
    owners: BTreeMap<String, String>,
}

impl<'a> Place<'a> {
    fn new(doors: &'a Doors, folder: &'a Utf8Path, query: &'a Query) -> Self {
        Self {
            doors,
            folder,
            query,
            index: BTreeMap::new(),
            raw: BTreeMap::new(),
            owners: BTreeMap::new(),
        }
    }

    fn backlog(&mut self, with_unfinished: bool) -> Result<Vec<LogLine>, LogsError> {
        let limit = (!self.query.all).then_some(LAST);
        let mut by_service: BTreeMap<String, Latest> = BTreeMap::new();
        let mut keep = |line: LogLine| {
            let own = by_service.entry(line.service.clone()).or_default();
            own.push(line, limit);
        };
        self.indexed(&mut keep)?;
        self.unindexed(with_unfinished, &mut keep)?;
        let lines = by_service.into_values().flat_map(Latest::into_lines);
        Ok(self.query.told(lines.collect()))
    }

    fn news(&mut self) -> Result<Vec<LogLine>, LogsError> {
        let mut lines = Vec::new();
        self.indexed(&mut |line| lines.push(line))?;
        // A live controller indexes within a moment; only without one the raw files speak.
        if cp9_tools::lock::holder(&self.folder.join("controller.lock")).is_none() {
            self.unindexed(false, &mut |line| lines.push(line))?;
        }
        Ok(self.query.told(lines))
    }

    fn indexed(&mut self, sink: &mut dyn FnMut(LogLine)) -> Result<(), LogsError> {
        let dir = self.folder.join("logs/index");
        let mut services = entries(&dir, ".jsonl")?;
        services.extend(entries(&dir, ".jsonl.1")?);
        let services: BTreeSet<String> = services.into_iter().map(|(_, service)| service).collect();
        for service in services {
            let path = dir.join(format!("{service}.jsonl"));
            let mut cursor = self.index.remove(&service).unwrap_or_default();
            let read = cursor.advance(&path, &mut |entry| self.take(entry, sink));
            read.map_err(|source| LogsError::Read { path, source })?;
            self.index.insert(service, cursor);
        }
        Ok(())
    }

    fn take(&mut self, entry: Entry, sink: &mut dyn FnMut(LogLine)) {
        let (resource, service, offset) = match &entry {
            Entry::Line(Record { line, offset }) => (&line.resource, &line.service, *offset),
            Entry::Mark(mark) => (&mark.resource, &mark.service, mark.offset),
        };
        self.owners.insert(resource.clone(), service.clone());
        let known = self.raw.entry(resource.clone()).or_default();
        if known.ahead && offset <= known.offset {
            return;
        }
        known.offset = offset;
        known.ahead = false;
        let Entry::Line(Record { line, .. }) = entry else {
            return;
        };
        known.time = time(&line);
        if self.query.wants_service(&line.service) && self.query.wants(&line) {
            sink(line);
        }
    }

    fn unindexed(
        &mut self,
        with_unfinished: bool,
        sink: &mut dyn FnMut(LogLine),
    ) -> Result<(), LogsError> {
        let dir = self.folder.join("logs/raw");
        for (path, resource) in entries(&dir, ".log")? {
            let service = owner(&resource, &self.owners);
            if !self.query.wants_service(&service) {
                continue;
            }
            let known = self.raw.entry(resource.clone()).or_default();
            let (remainder, query) = (
                Remainder {
                    raw: &path,
                    service: &service,
                    resource: &resource,
                    offset: known.offset,
                    after: known.time,
                    redactor: &self.doors.redactor,
                },
                self.query,
            );
            let mut take = |record: Record| {
                *known = Known {
                    offset: record.offset,
                    time: time(&record.line),
                    ahead: true,
                };
                if query.wants(&record.line) {
                    sink(record.line);
                }
            };
            let read = remainder.read(with_unfinished, &mut take);
            read.map_err(|source| LogsError::Read { path, source })?;
        }
        Ok(())
    }
}

/// Files of a folder by the name before their suffix; a missing folder holds none.
fn entries(dir: &Utf8Path, suffix: &str) -> Result<Vec<(Utf8PathBuf, String)>, LogsError> {
    let read = |source| LogsError::Read {
        path: dir.to_owned(),
        source,
    };
    let found = match dir.read_dir_utf8() {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(read(error)),
    };
    let mut files = Vec::new();
    for entry in found {
        let entry = entry.map_err(read)?;
        if let Some(stem) = entry.file_name().strip_suffix(suffix) {
            files.push((entry.path().to_owned(), stem.to_owned()));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
