//! The indexer: a thread that sleeps until a raw file changes, then appends one record for each
//! whole new line to `logs/index/<service>.jsonl`. The records carry the raw offsets, so that the
//! next controller goes on without loss or duplicate.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_tools::{Doors, Redactor};
use jiff::Timestamp;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::query::LogsError;
use super::raw::RawTail;
use super::record::{Record, Recorder};

/// How much of one file is taken before the others have their turn.
const BUDGET: usize = 1 << 20;
/// The least time between two rounds, so that a chatty service costs one append for many lines.
const PACE: Duration = Duration::from_millis(40);
/// How often files are looked at where the system gives no notice of changes.
const FALLBACK: Duration = Duration::from_millis(250);

enum Wake {
    Changed,
    Resources(BTreeMap<String, String>),
    Finish,
}

/// The running indexer.
#[derive(Debug)]
pub(crate) struct Indexer {
    wake_tx: SyncSender<Wake>,
    thread: Option<JoinHandle<()>>,
    watcher: Option<RecommendedWatcher>,
}

impl Indexer {
    /// Starts indexing a session's raw files; `resources` maps each resource to its service.
    pub(crate) fn start(
        doors: &Doors,
        folder: &Utf8Path,
        resources: BTreeMap<String, String>,
    ) -> Result<Self, LogsError> {
        let raw = folder.join("logs/raw");
        let index = folder.join("logs/index");
        for dir in [&raw, &index] {
            doors
                .create_private_dir(dir)
                .map_err(|source| LogsError::Write {
                    path: dir.clone(),
                    source,
                })?;
        }
        // Room for one notice: all that matters is that something changed since the last round.
        let (wake_tx, wake_rx) = sync_channel(1);
        let watcher = watch(&raw, wake_tx.clone());
        let polled = watcher.is_none();
        let mut rounds = Rounds {
            doors: doors.quiet(),
            raw,
            index,
            resources,
            tails: BTreeMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("log-index".into())
            .spawn(move || rounds.run(&wake_rx, polled))
            .map_err(|source| LogsError::Thread { source })?;
        Ok(Self {
            wake_tx,
            thread: Some(thread),
            watcher,
        })
    }

    /// Takes over a new plan's resources.
    pub(crate) fn set_resources(&self, resources: BTreeMap<String, String>) {
        // A dead thread has nothing left to be told.
        let _ = self.wake_tx.send(Wake::Resources(resources));
    }

    /// Indexes what there is, then ends.
    pub(crate) fn finish(mut self) {
        self.watcher = None;
        let _ = self.wake_tx.send(Wake::Finish);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch(raw: &Utf8Path, wake_tx: SyncSender<Wake>) -> Option<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let reading = event.is_ok_and(|event| event.kind.is_access());
        if !reading && let Err(TrySendError::Disconnected(_)) = wake_tx.try_send(Wake::Changed) {}
    })
    .ok()?;
    watcher
        .watch(raw.as_std_path(), RecursiveMode::NonRecursive)
        .ok()?;
    Some(watcher)
}

struct Tail {
    raw: RawTail,
    recorder: Recorder,
    service: String,
    indexed: u64,
}

struct Rounds {
    doors: Doors,
    raw: Utf8PathBuf,
    index: Utf8PathBuf,
    resources: BTreeMap<String, String>,
    tails: BTreeMap<String, Tail>,
}

impl Rounds {
    fn run(&mut self, wake_rx: &Receiver<Wake>, polled: bool) {
        self.drain();
        loop {
            let wake = if polled {
                wake_rx.recv_timeout(FALLBACK)
            } else {
                wake_rx.recv().map_err(RecvTimeoutError::from)
            };
            match wake {
                Ok(Wake::Changed) | Err(RecvTimeoutError::Timeout) => {
                    self.drain();
                    std::thread::sleep(PACE);
                }
                Ok(Wake::Resources(resources)) => self.resources = resources,
                Ok(Wake::Finish) | Err(RecvTimeoutError::Disconnected) => return self.drain(),
            }
        }
    }

    fn drain(&mut self) {
        self.discover();
        let mut more = true;
        while more {
            more = false;
            for tail in self.tails.values_mut() {
                more |= advance(tail, &self.doors, &self.index);
            }
        }
    }

    fn discover(&mut self) {
        let Ok(entries) = self.raw.read_dir_utf8() else {
            return;
        };
        for entry in entries.flatten() {
            let Some(resource) = entry.file_name().strip_suffix(".log") else {
                continue;
            };
            if self.tails.contains_key(resource) {
                continue;
            }
            let service = owner(resource, &self.resources);
            let index = self.index.join(format!("{service}.jsonl"));
            mend(&self.doors, &index);
            let indexed = last_offset(&index, resource);
            let tail = Tail {
                raw: RawTail::new(entry.path().to_owned(), indexed),
                recorder: Recorder::new(&service, resource, self.doors.redactor.clone()),
                service,
                indexed,
            };
            self.tails.insert(resource.to_owned(), tail);
        }
    }
}

/// One turn of one file. True when there may be more.
fn advance(tail: &mut Tail, doors: &Doors, index: &Utf8Path) -> bool {
    let now = doors.clock.now();
    let mut records = Vec::new();
    let mut end = tail.indexed;
    let recorder = &mut tail.recorder;
    let outcome = tail.raw.advance(BUDGET, &mut |line, offset| {
        end = offset;
        let record = Record {
            line: recorder.line(line, now),
            offset,
        };
        records.push(
            serde_json::to_string(&record).expect("a record is plain data and always serialises"),
        );
    });
    if !records.is_empty() {
        let path = index.join(format!("{}.jsonl", tail.service));
        if doors.append_line(&path, &records.join("\n")).is_err() {
            // Nothing is lost: the lines stay in the raw file and are read again.
            tail.raw = RawTail::new(tail.raw.path().to_owned(), tail.indexed);
            return false;
        }
        tail.indexed = end;
    }
    outcome.unwrap_or(false)
}

/// The service of a resource, by the plan, else by the resource's name.
pub(super) fn owner(resource: &str, resources: &BTreeMap<String, String>) -> String {
    let by_name = || {
        ["-live-binary", "-image", "-remote-rollout"]
            .iter()
            .find_map(|suffix| resource.strip_suffix(suffix))
            .unwrap_or(resource)
            .to_owned()
    };
    resources.get(resource).cloned().unwrap_or_else(by_name)
}

/// Ends a last record that a kill cut short; readers skip it and its raw line is indexed again.
fn mend(doors: &Doors, index: &Utf8Path) {
    if super::raw::ends_unfinished(index) {
        let _ = doors.append_line(index, "");
    }
}

/// The raw offset after the last indexed line of a resource.
fn last_offset(index: &Utf8Path, resource: &str) -> u64 {
    let mut offset = 0;
    for_each_record(index, 0, &mut |record, _| {
        if record.line.resource == resource {
            offset = record.offset;
        }
    })
    .map_or(0, |_| offset)
}

/// Hands over the whole records from a byte on; returns the byte after the last of them.
pub(super) fn for_each_record(
    index: &Utf8Path,
    from: u64,
    sink: &mut dyn FnMut(Record, u64),
) -> std::io::Result<u64> {
    use std::io::{Seek, SeekFrom};
    let mut file = match std::fs::File::open(index) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut at = if file.metadata()?.len() < from {
        0
    } else {
        from
    };
    file.seek(SeekFrom::Start(at))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = reader.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(at);
        }
        at += count as u64;
        if let Ok(record) = serde_json::from_slice::<Record>(&line) {
            sink(record, at);
        }
    }
}

/// Raw lines of one resource that the index does not hold.
pub(super) struct Remainder<'a> {
    pub(super) raw: &'a Utf8Path,
    pub(super) service: &'a str,
    pub(super) resource: &'a str,
    /// Where the index ends.
    pub(super) offset: u64,
    /// The time of the last line before.
    pub(super) after: Timestamp,
    pub(super) redactor: &'a Redactor,
}

impl Remainder<'_> {
    /// Hands over the whole lines, and the unfinished last one if wanted. Their time is that of
    /// the file's last change, but never before the line before.
    pub(super) fn read(
        &self,
        with_unfinished: bool,
        sink: &mut dyn FnMut(Record),
    ) -> std::io::Result<()> {
        let Ok(changed) = std::fs::metadata(self.raw).and_then(|facts| facts.modified()) else {
            return Ok(());
        };
        let changed = Timestamp::try_from(changed).unwrap_or(Timestamp::UNIX_EPOCH);
        let arrived = changed.max(self.after);
        let mut recorder = Recorder::new(self.service, self.resource, self.redactor.clone());
        let mut tail = RawTail::new(self.raw.to_owned(), self.offset);
        let mut end = self.offset;
        let mut take = |line: &[u8], offset: u64| {
            end = offset;
            let line = recorder.line(line, arrived);
            sink(Record { line, offset });
        };
        while tail.advance(BUDGET, &mut take)? {}
        if with_unfinished && let Some(line) = tail.unfinished() {
            let line = recorder.line(line, arrived);
            sink(Record { line, offset: end });
        }
        Ok(())
    }
}
