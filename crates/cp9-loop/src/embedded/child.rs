//! One served process from its start to its end: laid, spawned or adopted, recorded, stopped.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::devplan::Resource;
use cp9_model::scope::ENV_START;
use cp9_tools::procs::{self, is_alive, signal_group};
use cp9_tools::{Child, Doors, Exit, FileError, ProcessId, Signal};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::builder::Product;
use super::generation::copy_path;
use super::lay;
use super::message::{Message, Messages};
use super::oversight::FAULT;
use super::service::{Event, Started};
use super::session::Session;
use super::start;
use crate::logs;

/// How often an adopted process is looked at; our own children tell their end themselves.
const ADOPTED_LOOK: Duration = Duration::from_millis(500);
/// Last lines of output that explain an unexpected end.
const LAST_LINES: usize = 5;
/// Where last lines are looked for, and what is shown of each.
const LAST_BYTES: u64 = 128 * 1024;
const LINE_BYTES: usize = 4 * 1024;

/// `run/<svc>/child.json`: how the next controller, and destroy, find the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChildRecord {
    /// The process.
    #[serde(flatten)]
    pub(super) id: ProcessId,
    /// The resource.
    pub(super) resource: String,
    /// SHA-256 of the binary that it runs, if it was built from source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) binary: Option<String>,
    /// Digest of the files that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    /// Digest of its plan entry, files and secrets.
    pub(super) entry: String,
    /// Seconds between the stop signal and the kill.
    pub(super) grace_seconds: u32,
    /// What all that it starts carries in its environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mark: Option<String>,
}

impl ChildRecord {
    pub(super) fn path(session: &Session, service: &str) -> Utf8PathBuf {
        session.paths.run(service).join("child.json")
    }

    pub(super) fn read(doors: &Doors, path: &Utf8Path) -> Option<Self> {
        serde_json::from_slice(&doors.read(path).ok()?).ok()
    }

    fn write(&self, session: &Session, service: &str) -> Result<(), FileError> {
        let text = serde_json::to_vec(self).expect("a record is plain data and always serialises");
        session
            .doors
            .write_fleeting(&Self::path(session, service), &text, 0o600)
    }

    /// What the process was started from.
    pub(super) fn started(&self) -> Started {
        let product = self.source.clone().map(|source| Product {
            binary: self.binary.clone(),
            source,
        });
        Started {
            product,
            entry: self.entry.clone(),
        }
    }
}

/// One run of a service.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) session: Session,
    pub(super) resource: Resource,
    pub(super) number: u64,
    pub(super) stop: CancellationToken,
    pub(super) messages: Messages,
}

impl Run {
    fn tell(&self, event: Event) {
        // The owner of the state goes last; when it is gone, nobody needs to know.
        let _ = self
            .messages
            .send(Message::Service(self.resource.name.clone(), event));
    }

    fn grace(&self) -> Duration {
        Duration::from_secs(u64::from(self.resource.grace_seconds))
    }

    /// Starts the process and stays with it until its end.
    pub(super) async fn start(self, started: Started) {
        let log = self.session.paths.raw_log(&self.resource.name);
        let from = std::fs::metadata(&log).map_or(0, |facts| facts.len());
        let mark = start::mark(&self.session.doors.clock, &self.resource.name, self.number);
        let mut child = match self.spawn(&started, &mark, &log).await {
            Ok(child) => child,
            Err(message) => return self.tell(Event::SpawnFailed(self.number, message)),
        };
        let id = child.id;
        if let Err(error) = self.record(id, &started, &mark) {
            // A process that no later controller could find must not live.
            child.stop(Duration::ZERO).await;
            return self.tell(Event::SpawnFailed(self.number, in_words(&error)));
        }
        self.tell(Event::Spawned(self.number, id));
        let exit = tokio::select! {
            exit = child.wait() => exit,
            () = self.stop.cancelled() => child.stop(self.grace()).await,
        };
        start::end_rest(mark).await;
        self.tidy(&log);
        self.forget(id);
        self.tell(Event::Exited(self.number, self.explain(exit, &log, from)));
    }

    async fn spawn(&self, started: &Started, mark: &str, log: &Utf8Path) -> Result<Child, String> {
        let argv = argv(&self.resource, started);
        let run = self.clone();
        let cmd = beside(move || {
            lay::lay(&run.session, &run.resource)?;
            lay::command(&run.session, &run.resource, &argv)
        })
        .await?;
        if self.stop.is_cancelled() {
            return Err("stopped before its start".into());
        }
        end_last_line(&self.session.doors, log);
        let child = self.session.doors.spawn(&cmd.env(ENV_START, mark), log);
        child.map_err(|error| in_words(&error))
    }

    fn record(&self, id: ProcessId, started: &Started, mark: &str) -> Result<(), FileError> {
        let product = started.product.as_ref();
        let record = ChildRecord {
            id,
            resource: self.resource.name.clone(),
            binary: product.and_then(|product| product.binary.clone()),
            source: product.map(|product| product.source.clone()),
            entry: started.entry.clone(),
            grace_seconds: self.resource.grace_seconds,
            mark: Some(mark.to_owned()),
        };
        record.write(&self.session, &self.resource.service)
    }

    /// Stays with a process of an earlier controller, which is nobody's child to wait for.
    pub(super) async fn adopt(self, id: ProcessId, mark: Option<String>) {
        loop {
            tokio::select! {
                () = self.stop.cancelled() => {
                    procs::stop(id, self.grace()).await;
                    break;
                }
                () = tokio::time::sleep(ADOPTED_LOOK) => {
                    if !is_alive(id) {
                        // What it leaves behind would keep its ports.
                        signal_group(id, Signal::Kill);
                        break;
                    }
                }
            }
        }
        if let Some(mark) = mark {
            start::end_rest(mark).await;
        }
        self.tidy(&self.session.paths.raw_log(&self.resource.name));
        self.forget(id);
        self.tell(Event::Exited(self.number, "the process has ended".into()));
    }

    /// What is told when its task has panicked; its process must not go on unseen.
    pub(super) async fn lost(self) -> Message {
        let path = ChildRecord::path(&self.session, &self.resource.service);
        let record = ChildRecord::read(&self.session.doors, &path);
        if let Some(record) = record.filter(|record| record.resource == self.resource.name) {
            procs::stop(record.id, self.grace()).await;
            self.forget(record.id);
        }
        let event = Event::SpawnFailed(self.number, FAULT.to_owned());
        Message::Service(self.resource.name, event)
    }

    /// Leaves no secret behind that only the process needed: neither in a file that was laid for it nor
    /// in a last line without an end, which nobody would index.
    fn tidy(&self, log: &Utf8Path) {
        end_last_line(&self.session.doors, log);
        lay::remove_secrets(&self.session.doors, &self.resource);
    }

    fn forget(&self, id: ProcessId) {
        let path = ChildRecord::path(&self.session, &self.resource.service);
        let ours =
            ChildRecord::read(&self.session.doors, &path).is_some_and(|record| record.id == id);
        if ours {
            // A record that stays names a dead process, which every reader checks.
            let _ = self.session.doors.remove_file(&path);
        }
    }

    fn explain(&self, exit: Exit, log: &Utf8Path, from: u64) -> String {
        let how = match exit {
            Exit::Code(code) => format!("exited with code {code}"),
            Exit::Signal(signal) => format!("killed by signal {signal}"),
        };
        let last = last_lines(&self.session.doors, log, from, LAST_LINES);
        if last.is_empty() {
            how
        } else {
            format!("{how}: {}", last.join(" | "))
        }
    }
}

/// Does what waits for the disk beside the owner of all state.
async fn beside<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, String>
where
    T: Send + 'static,
    E: std::error::Error + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| in_words(&error)),
        Err(error) => Err(in_words(&error)),
    }
}

/// The command: a binary built from source takes the place of the first word.
fn argv(resource: &Resource, started: &Started) -> Vec<String> {
    let mut argv = resource.argv.clone();
    let Some(binary) = &resource.binary else {
        return argv;
    };
    let hash = started
        .product
        .as_ref()
        .and_then(|product| product.binary.as_ref());
    let program = hash.map_or_else(
        || binary.clone(),
        |hash| copy_path(binary, hash).into_string(),
    );
    match argv.first_mut() {
        Some(first) => *first = program,
        None => argv.push(program),
    }
    argv
}

/// Keeps the last words of an earlier process apart from the first of the next.
pub(super) fn end_last_line(doors: &Doors, log: &Utf8Path) {
    if logs::ends_unfinished(log) {
        // The worst that can happen is a joined line.
        let _ = doors.append_line(log, "");
    }
}

/// The last lines that were appended to a raw file after an offset, clean and redacted. A line
/// whose beginning is out of reach is left out: of a secret in two halves neither is recognised.
pub(super) fn last_lines(doors: &Doors, log: &Utf8Path, from: u64, lines: usize) -> Vec<String> {
    let Ok((text, whole)) = last_bytes(log, from) else {
        return Vec::new();
    };
    let clean: Vec<String> = text
        .split(|byte| *byte == b'\n')
        .skip(usize::from(!whole))
        .map(|line| shortened(logs::clean(line, &doors.redactor)))
        .filter(|line| !line.trim().is_empty())
        .collect();
    clean[clean.len().saturating_sub(lines)..].to_vec()
}

/// The end of what follows an offset, and whether it is all of it.
fn last_bytes(log: &Utf8Path, from: u64) -> std::io::Result<(Vec<u8>, bool)> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(log)?;
    let length = file.metadata()?.len();
    // A file that has been emptied since begins anew.
    let from = if length < from { 0 } else { from };
    let start = from.max(length.saturating_sub(LAST_BYTES));
    file.seek(SeekFrom::Start(start))?;
    let mut text = Vec::new();
    file.take(LAST_BYTES).read_to_end(&mut text)?;
    Ok((text, start == from))
}

fn shortened(mut line: String) -> String {
    if line.len() > LINE_BYTES {
        line.truncate(line.floor_char_boundary(LINE_BYTES));
        line.push('…');
    }
    line
}

/// An error with its causes and what to do, in one line.
pub(super) fn in_words<E: std::error::Error + 'static>(error: &E) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use cp9_tools::{Clock, Environment, Secret};

    use super::*;

    fn lines(text: &str, from: u64, lines: usize) -> Vec<String> {
        let dir = tempfile::tempdir().expect("tempdir");
        let log = Utf8PathBuf::from_path_buf(dir.path().join("a.log")).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        doors.redactor.add(&Secret::new("hunter22".to_owned()));
        doors.append_line(&log, text).expect("write");
        last_lines(&doors, &log, from, lines)
    }

    #[test]
    fn last_lines_are_those_of_this_run_clean_and_redacted() {
        let text = "old\none\n\n\x1b[31mtwo hunter22\x1b[0m\nthree";
        assert_eq!(lines(text, 4, 5), ["one", "two ***", "three"]);
        assert_eq!(lines(text, 4, 1), ["three"]);
        assert_eq!(lines("anew", 400, 5), ["anew"], "emptied since");
    }

    #[test]
    fn half_a_secret_at_the_edge_is_not_shown() {
        let reach = usize::try_from(LAST_BYTES).expect("small");
        let end = format!("\n{}\nlast", "x".repeat(reach - 4 - "\n\nlast\n".len()));
        let text = format!("hunter22{end}");
        let shown = lines(&text, 0, 5);
        assert_eq!(shown.len(), 2, "{}", shown[0]);
        assert!(!shown.join("").contains("er22"));
    }

    #[test]
    fn a_long_line_is_shown_by_its_beginning() {
        let shown = lines(&"ä".repeat(LINE_BYTES), 0, 1);
        assert_eq!(shown[0].chars().count(), LINE_BYTES / 2 + 1);
    }
}
