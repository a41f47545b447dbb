//! The watcher: a thread that sleeps until a watched file changes, waits out the burst, and
//! reports the new digest of each resource that is concerned. Folders are watched one by one, so
//! that ignored trees cost nothing; files replaced by rename and new folders are followed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cp9_tools::Doors;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::debounce::Debounce;
use super::message::{Message, Messages};
use super::sources::{DigestCache, Found, WatchSet};
use crate::controller::ControllerError;

/// How often files are looked at when the system cannot watch them.
const FALLBACK: Duration = Duration::from_secs(1);
/// How many ignored paths are remembered for each resource.
const IGNORED_LIMIT: usize = 4096;

enum Wake {
    Event(notify::Result<Event>),
    Plan(Vec<(String, WatchSet)>),
    Check(String),
    Finish,
}

/// The running watcher.
#[derive(Debug)]
pub(super) struct SourceWatcher {
    wake_tx: Sender<Wake>,
    thread: Option<JoinHandle<()>>,
}

impl SourceWatcher {
    /// Starts it; it watches nothing yet.
    pub(super) fn start(doors: &Doors, messages: Messages) -> Result<Self, ControllerError> {
        let (wake_tx, wake_rx) = channel();
        let event_tx = wake_tx.clone();
        let doors = doors.quiet();
        let thread = std::thread::Builder::new()
            .name("source-watch".into())
            .spawn(move || Watch::new(doors, messages, event_tx).run(&wake_rx))
            .map_err(|source| ControllerError::System {
                what: "the thread that watches files",
                source,
            })?;
        Ok(Self {
            wake_tx,
            thread: Some(thread),
        })
    }

    /// Watches these from now on, and reports the digest of each.
    pub(super) fn set_plan(&self, sets: Vec<(String, WatchSet)>) {
        // A dead thread has nothing left to be told.
        let _ = self.wake_tx.send(Wake::Plan(sets));
    }

    /// Reports the digest of one resource as an answer to a trigger.
    pub(super) fn check(&self, resource: &str) {
        let _ = self.wake_tx.send(Wake::Check(resource.to_owned()));
    }

    /// Ends it.
    pub(super) fn finish(mut self) {
        let _ = self.wake_tx.send(Wake::Finish);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watched {
    name: String,
    set: WatchSet,
    found: Found,
    /// Event paths that turned out not to be source, so that their next event costs nothing.
    ignored: HashSet<PathBuf>,
    /// Event paths since the last look.
    touched: HashSet<PathBuf>,
    concerned: bool,
    reported: Option<String>,
}

struct Watch {
    doors: Doors,
    messages: Messages,
    watcher: Option<RecommendedWatcher>,
    armed: HashSet<PathBuf>,
    watched: Vec<Watched>,
    cache: DigestCache,
    debounce: Debounce,
}

impl Watch {
    fn new(doors: Doors, messages: Messages, event_tx: Sender<Wake>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if !event.as_ref().is_ok_and(only_read) {
                let _ = event_tx.send(Wake::Event(event));
            }
        });
        let mut watch = Self {
            doors,
            messages,
            watcher: None,
            armed: HashSet::new(),
            watched: Vec::new(),
            cache: DigestCache::default(),
            debounce: Debounce::default(),
        };
        match watcher {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => watch.fall_back(&error),
        }
        watch
    }

    fn run(mut self, wake_rx: &Receiver<Wake>) {
        loop {
            match self.sleep(wake_rx) {
                Ok(Wake::Event(event)) => self.event(event),
                Ok(Wake::Plan(sets)) => self.plan(sets),
                Ok(Wake::Check(name)) => self.check(&name),
                Err(RecvTimeoutError::Timeout) => self.timeout(),
                Ok(Wake::Finish) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn sleep(&self, wake_rx: &Receiver<Wake>) -> Result<Wake, RecvTimeoutError> {
        match self.debounce.deadline() {
            Some(deadline) => wake_rx.recv_timeout(deadline.saturating_duration_since(self.now())),
            None if self.watcher.is_none() => wake_rx.recv_timeout(FALLBACK),
            None => wake_rx.recv().map_err(RecvTimeoutError::from),
        }
    }

    fn now(&self) -> Instant {
        self.doors.clock.instant()
    }

    fn event(&mut self, event: notify::Result<Event>) {
        let Ok(event) = event else {
            return self.everything_concerned();
        };
        if event.need_rescan() {
            return self.everything_concerned();
        }
        if matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        ) {
            for path in &event.paths {
                self.disarm(path);
            }
        }
        let mut any = false;
        for watched in &mut self.watched {
            for path in &event.paths {
                if watched.set.concerns(path) && !watched.ignored.contains(path) {
                    watched.concerned = true;
                    watched.touched.insert(path.clone());
                    any = true;
                }
            }
        }
        if any {
            self.debounce.note(self.now());
            // Under a steady stream of events no timeout would ever come.
            self.flush();
        }
    }

    fn everything_concerned(&mut self) {
        for watched in &mut self.watched {
            watched.concerned = true;
        }
        self.debounce.note(self.now());
    }

    fn timeout(&mut self) {
        if self.watcher.is_none() {
            for watched in &mut self.watched {
                watched.concerned = true;
            }
            self.debounce = Debounce::default();
            return self.look(false);
        }
        self.flush();
    }

    fn flush(&mut self) {
        if self.debounce.take(self.now()) {
            self.look(false);
        }
    }

    /// Looks at every resource that is concerned and reports what changed.
    fn look(&mut self, asked: bool) {
        for index in 0..self.watched.len() {
            if !std::mem::take(&mut self.watched[index].concerned) {
                continue;
            }
            self.watched[index].found = self.walk_armed(index);
            let digest = self.cache.digest(&self.doors, &self.watched[index].found);
            let watched = &mut self.watched[index];
            watched.learn_ignored();
            let news = watched.reported.as_ref() != Some(&digest);
            if news || asked {
                watched.reported = Some(digest.clone());
                let message = Message::Source {
                    resource: watched.name.clone(),
                    digest,
                    asked,
                };
                // Nobody listens any more when the controller is ending.
                let _ = self.messages.send(message);
            }
        }
    }

    /// Walks until every folder found is watched: what was written into a new folder before it
    /// was watched is seen by the walk after.
    fn walk_armed(&mut self, index: usize) -> Found {
        loop {
            let found = self.watched[index].set.walk();
            let unwatched: Vec<PathBuf> = found.dirs.difference(&self.armed).cloned().collect();
            if unwatched.is_empty() || self.watcher.is_none() {
                return found;
            }
            for dir in unwatched {
                self.arm(dir);
            }
        }
    }

    fn arm(&mut self, dir: PathBuf) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        let outcome = watcher.watch(&dir, RecursiveMode::NonRecursive);
        // Also when the folder vanished meanwhile: a later event of its parent disarms it.
        self.armed.insert(dir);
        if let Err(error) = outcome
            && exhausted(&error)
        {
            self.fall_back(&error);
        }
    }

    fn disarm(&mut self, path: &Path) {
        let gone: Vec<PathBuf> = self
            .armed
            .iter()
            .filter(|dir| dir.starts_with(path))
            .cloned()
            .collect();
        for dir in gone {
            if let Some(watcher) = &mut self.watcher {
                let _ = watcher.unwatch(&dir);
            }
            self.armed.remove(&dir);
        }
    }

    fn fall_back(&mut self, error: &notify::Error) {
        self.watcher = None;
        self.armed.clear();
        let note = format!(
            "the system cannot watch more files ({error}); looking every {} s instead; \
             raise fs.inotify.max_user_watches and fs.inotify.max_user_instances",
            FALLBACK.as_secs()
        );
        let _ = self.messages.send(Message::Note(note));
    }

    fn plan(&mut self, sets: Vec<(String, WatchSet)>) {
        self.watched = sets
            .into_iter()
            .map(|(name, set)| Watched {
                name,
                set,
                found: Found::default(),
                ignored: HashSet::new(),
                touched: HashSet::new(),
                concerned: true,
                reported: None,
            })
            .collect();
        self.look(false);
        let wanted: HashSet<&PathBuf> = self
            .watched
            .iter()
            .flat_map(|watched| &watched.found.dirs)
            .collect();
        let stale: Vec<PathBuf> = self
            .armed
            .iter()
            .filter(|dir| !wanted.contains(dir))
            .cloned()
            .collect();
        let files = self.watched.iter().flat_map(|watched| &watched.found.files);
        let files: HashSet<&Path> = files.map(|(_, path)| path.as_path()).collect();
        self.cache.retain(&files);
        for dir in stale {
            self.disarm(&dir);
        }
    }

    fn check(&mut self, name: &str) {
        let mut held: HashMap<usize, bool> = HashMap::new();
        for (index, watched) in self.watched.iter_mut().enumerate() {
            held.insert(
                index,
                std::mem::replace(&mut watched.concerned, watched.name == name),
            );
        }
        self.look(true);
        for (index, watched) in self.watched.iter_mut().enumerate() {
            watched.concerned = watched.name != name && held.get(&index).copied().unwrap_or(false);
        }
    }
}

impl Watched {
    fn learn_ignored(&mut self) {
        let sources: HashSet<&Path> = self
            .found
            .files
            .iter()
            .map(|(_, path)| path.as_path())
            .collect();
        let is_rule = |path: &Path| {
            path.file_name()
                .is_some_and(|name| name == ".gitignore" || name == ".ignore")
        };
        if self.touched.iter().any(|path| is_rule(path)) || self.ignored.len() > IGNORED_LIMIT {
            self.ignored.clear();
        }
        for path in self.touched.drain() {
            let source = sources.contains(path.as_path()) || self.found.dirs.contains(&path);
            if !source && path.exists() && !is_rule(&path) {
                self.ignored.insert(path);
            }
        }
    }
}

/// Events of reading, which a build causes by the thousand.
fn only_read(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => !event.need_rescan(),
        _ => false,
    }
}

/// True when the system has no more room for watches.
fn exhausted(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => {
            matches!(
                error.kind(),
                std::io::ErrorKind::StorageFull
                    | std::io::ErrorKind::QuotaExceeded
                    | std::io::ErrorKind::OutOfMemory
            ) || error.raw_os_error() == Some(EMFILE)
        }
        _ => false,
    }
}

/// Too many open files, the same number on Linux and macOS.
const EMFILE: i32 = 24;

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
