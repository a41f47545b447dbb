//! The record of every outbound call: JSON lines in a file, and lines on stderr when verbose. The
//! one place of this crate that may write to stderr.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use crate::clock::Clock;
use crate::files::append;
use crate::redact::Redactor;

/// Calls kept in memory until there is a file to record them in.
const MOST_WAITING: usize = 512;
/// The size at which a record is put aside, under its name with `.1`, in place of the one before.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// Outcomes remembered for quiet calls; past that they are recorded again.
const MOST_REMEMBERED: usize = 4096;

/// Records outbound calls. Clones share the file; a failure to record never fails a call.
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    quiet: bool,
}

#[derive(Debug)]
struct Shared {
    redactor: Redactor,
    clock: Clock,
    verbose: bool,
    sink: Mutex<Sink>,
}

#[derive(Debug, Default)]
struct Sink {
    path: Option<Utf8PathBuf>,
    file: Option<File>,
    waiting: Vec<String>,
    outcomes: HashMap<String, String>,
}

/// The kind of an outbound call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A program was run.
    Program,
    /// An HTTP request was made.
    Http,
    /// A file was changed.
    File,
}

/// One outbound call that has ended.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) argv: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    pub(crate) millis: u64,
    pub(crate) outcome: String,
}

impl Call {
    pub(crate) fn new(kind: Kind, what: &str, millis: u64, outcome: String) -> Self {
        Self {
            kind,
            what: what.to_owned(),
            argv: Vec::new(),
            url: None,
            path: None,
            cwd: None,
            millis,
            outcome,
        }
    }
}

#[derive(Serialize)]
struct Line<'c> {
    time: String,
    #[serde(flatten)]
    call: &'c Call,
}

impl Recorder {
    /// Keeps the first calls in memory until `to_file` says where they go.
    pub fn new(redactor: Redactor, clock: Clock, verbose: bool) -> Self {
        let shared = Shared {
            redactor,
            clock,
            verbose,
            sink: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            quiet: false,
        }
    }

    /// Appends to this file from now on, the calls kept so far first. Its folder must exist.
    pub fn to_file(&self, path: impl Into<Utf8PathBuf>) {
        let mut sink = self.sink();
        sink.path = Some(path.into());
        sink.file = None;
        let waiting = std::mem::take(&mut sink.waiting);
        for line in waiting {
            sink.store(line);
        }
    }

    /// The same recorder for polling: only a changed outcome of a call is recorded.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            quiet: true,
        }
    }

    pub(crate) fn call(&self, call: Call) {
        let call = self.redacted(call);
        let mut sink = self.sink();
        if self.quiet && !sink.changed(&call) {
            return;
        }
        let time = self.shared.clock.now().to_string();
        let line = serde_json::to_string(&Line { time, call: &call });
        sink.store(line.expect("a call is plain data and always serialises"));
        drop(sink);
        if self.shared.verbose {
            // A closed stderr must not end the program, as `eprintln!` would.
            let _ = writeln!(std::io::stderr(), "cp9: {}", sentence(&call));
        }
    }

    fn sink(&self) -> std::sync::MutexGuard<'_, Sink> {
        self.shared
            .sink
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn redacted(&self, mut call: Call) -> Call {
        let redact = |text: &mut String| *text = self.shared.redactor.redact(text);
        redact(&mut call.what);
        redact(&mut call.outcome);
        call.argv.iter_mut().for_each(redact);
        call.url.iter_mut().for_each(redact);
        call.path.iter_mut().for_each(redact);
        call.cwd.iter_mut().for_each(redact);
        call
    }
}

impl Sink {
    /// What cannot be recorded is lost: no call fails for it.
    fn store(&mut self, line: String) {
        let Some(path) = self.path.clone() else {
            if self.waiting.len() < MOST_WAITING {
                self.waiting.push(line);
            }
            return;
        };
        if self.append(&path, line).is_err() {
            self.file = None;
        }
    }

    fn append(&mut self, path: &Utf8Path, mut line: String) -> std::io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => append::open_at_line_start(path)?,
        };
        let mut file = with_room(file, path)?;
        line.push('\n');
        file.write_all(line.as_bytes())?;
        self.file = Some(file);
        Ok(())
    }

    fn changed(&mut self, call: &Call) -> bool {
        if self.outcomes.len() >= MOST_REMEMBERED {
            self.outcomes.clear();
        }
        let subject = subject(call);
        let last = self.outcomes.insert(subject, call.outcome.clone());
        last.as_deref() != Some(call.outcome.as_str())
    }
}

/// The file, or another one once it is full. Several processes may record in the same file: the one
/// that locks it puts it aside, and the others follow.
#[expect(
    clippy::disallowed_methods,
    reason = "the record does not record itself"
)]
fn with_room(file: File, path: &Utf8Path) -> std::io::Result<File> {
    let facts = file.metadata()?;
    if facts.len() < MOST_BYTES || file.try_lock().is_err() {
        return Ok(file);
    }
    let named = std::fs::metadata(path).is_ok_and(|named| named.ino() == facts.ino());
    if named {
        std::fs::rename(path, format!("{path}.1"))?;
    }
    append::open_at_line_start(path)
}

fn subject(call: &Call) -> String {
    let mut subject = call.what.clone();
    let details = call.argv.iter().skip(1).chain(&call.url).chain(&call.path);
    for detail in details {
        subject.push(' ');
        subject.push_str(detail);
    }
    subject
}

fn sentence(call: &Call) -> String {
    let verb = match call.kind {
        Kind::Program => "ran ",
        Kind::Http => "called ",
        Kind::File => "",
    };
    let subject = crate::lines::strip_control(&subject(call)).replace('\n', " ");
    format!("{verb}{subject} ({} ms, {})", call.millis, call.outcome)
}
