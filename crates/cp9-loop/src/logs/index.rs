//! The indexer: a thread that sleeps until a raw file changes, then appends one record for each
//! whole new line to `logs/index/<service>.jsonl`. The records carry the raw offsets, so that the
//! next controller goes on without loss or duplicate. Before a line that holds a secret is indexed, it is
//! masked in the raw file as well. Both kinds of files are bounded: the room of what is indexed of a big
//! raw file is given back while its process goes on appending to it, and of an index one older generation
//! is kept.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_tools::{Doors, Redactor};
use jiff::Timestamp;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::archive::{Archive, Mark};
use super::mask::Masks;
use super::query::LogsError;
use super::raw::{RawLine, RawTail};
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
    /// Starts indexing a session's raw files; `resources` maps each resource to its service, and
    /// `lost` is called if the thread ends by a fault of ours.
    pub(crate) fn start(
        doors: &Doors,
        folder: &Utf8Path,
        resources: BTreeMap<String, String>,
        lost: impl FnOnce() + Send + 'static,
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
            archives: BTreeMap::new(),
            limits: LIMITS,
        };
        let thread = std::thread::Builder::new()
            .name("log-index".into())
            .spawn(move || {
                let run = std::panic::AssertUnwindSafe(|| rounds.run(&wake_rx, polled));
                if std::panic::catch_unwind(run).is_err() {
                    lost();
                }
            })
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
    masks: Masks,
    recorder: Recorder,
    service: String,
    indexed: u64,
}

/// How much of the logs is kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The size at which an index is put aside, in place of the one before.
    index: u64,
    /// The room that a raw file may take; what the index holds of it is given back then.
    raw: u64,
    /// What stays of it for a person to look at.
    raw_kept: u64,
}

const LIMITS: Limits = Limits {
    index: 32 << 20,
    raw: 32 << 20,
    raw_kept: 8 << 20,
};

struct Rounds {
    doors: Doors,
    raw: Utf8PathBuf,
    index: Utf8PathBuf,
    resources: BTreeMap<String, String>,
    tails: BTreeMap<String, Tail>,
    archives: BTreeMap<String, Archive>,
    limits: Limits,
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
        let resources: Vec<String> = self.tails.keys().cloned().collect();
        let mut more = true;
        while more {
            more = false;
            for resource in &resources {
                more |= self.advance(resource);
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
            let archive = self.archives.entry(service.clone()).or_insert_with(|| {
                Archive::open(&self.doors, self.index.join(format!("{service}.jsonl")))
            });
            let indexed = archive.last_offset(resource);
            let tail = Tail {
                raw: RawTail::new(entry.path().to_owned(), indexed),
                masks: Masks::new(self.doors.redactor.clone()),
                recorder: Recorder::new(&service, resource, self.doors.redactor.clone()),
                service,
                indexed,
            };
            self.tails.insert(resource.to_owned(), tail);
        }
    }

    /// One turn of one file. True when there may be more.
    fn advance(&mut self, resource: &str) -> bool {
        let Some(tail) = self.tails.get_mut(resource) else {
            return false;
        };
        let Some(archive) = self.archives.get_mut(&tail.service) else {
            return false;
        };
        let (end, records, more) = tail.read(self.doors.clock.now());
        tail.masks.lay(&self.doors, tail.raw.path());
        if records.is_empty() {
            return more;
        }
        if archive.append(&self.doors, &records.join("\n")).is_err() {
            // Nothing is lost: the lines stay in the raw file and are read again.
            tail.raw = RawTail::new(tail.raw.path().to_owned(), tail.indexed);
            return false;
        }
        tail.indexed = end;
        let emptied = tail.give_back(&self.doors, self.limits);
        let service = tail.service.clone();
        let marks = self
            .tails
            .iter()
            .filter(|(_, tail)| tail.service == service);
        let marks = marks.map(|(resource, tail)| Mark {
            service: service.clone(),
            resource: resource.clone(),
            offset: tail.indexed,
        });
        if emptied {
            archive.mark(&self.doors, marks);
        } else {
            archive.keep(&self.doors, self.limits.index, marks);
        }
        more
    }
}

impl Tail {
    /// Reads on: where it has come to, the records of whole lines, and whether there may be more.
    fn read(&mut self, now: Timestamp) -> (u64, Vec<String>, bool) {
        let mut records = Vec::new();
        let mut end = self.indexed;
        let (recorder, masks) = (&mut self.recorder, &mut self.masks);
        let outcome = self.raw.advance(BUDGET, &mut |line| {
            end = line.end;
            let record = Record {
                line: recorder.line(line.bytes, now),
                offset: line.end,
            };
            masks.line(line, &record.line.text);
            records.push(
                serde_json::to_string(&record)
                    .expect("a record is plain data and always serialises"),
            );
        });
        if let Some(line) = self.raw.unfinished() {
            self.masks.unfinished(line);
        }
        (end, records, outcome.unwrap_or(false))
    }

    /// Gives back the room of what the index holds, once the raw file takes too much. Where the
    /// file system cannot do that under a writer, the file is emptied instead: true then.
    fn give_back(&mut self, doors: &Doors, limits: Limits) -> bool {
        let path = self.raw.path();
        let Ok(facts) = std::fs::metadata(path) else {
            return false;
        };
        if facts.blocks() * 512 <= limits.raw {
            return false;
        }
        let head = self.indexed.saturating_sub(limits.raw_kept);
        match doors.free_head(path, head) {
            Ok(false) if self.indexed == facts.len() => self.empty(doors),
            // What cannot be given back now can be so after the next lines.
            _ => false,
        }
    }

    fn empty(&mut self, doors: &Doors) -> bool {
        let path = self.raw.path().to_owned();
        let emptied = doors.empty_at(&path, self.indexed).unwrap_or(false);
        if emptied {
            self.indexed = 0;
            self.raw = RawTail::new(path, 0);
        }
        emptied
    }
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
        let mut take = |line: RawLine<'_>| {
            end = line.end;
            sink(Record {
                line: recorder.line(line.bytes, arrived),
                offset: line.end,
            });
        };
        while tail.advance(BUDGET, &mut take)? {}
        if with_unfinished && let Some(line) = tail.unfinished() {
            let line = recorder.line(line.bytes, arrived);
            sink(Record { line, offset: end });
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
