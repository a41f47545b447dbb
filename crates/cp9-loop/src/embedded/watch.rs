//! The watcher: a thread that sleeps until a watched file changes, waits out the burst, and
//! reports the new digest of each resource that is concerned. Folders are watched one by one, so
//! that ignored trees cost nothing; files replaced by rename and new folders are followed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cp9_tools::Doors;
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::armed::Armed;
use super::debounce::Debounce;
use super::message::{Message, Messages, Why};
use super::sources::{DigestCache, Found, WatchSet};
use super::watched::Watched;
use crate::controller::ControllerError;

/// How often files are looked at when the system cannot watch them.
const FALLBACK: Duration = Duration::from_secs(1);

enum Wake {
    Event(notify::Result<Event>),
    Plan(Vec<(String, WatchSet)>),
    Check(String),
    Renew(String),
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
            .spawn(move || {
                alarmed(&messages.clone(), || {
                    Watch::new(doors, messages, event_tx).run(&wake_rx);
                });
            })
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

    /// Reports the digest of one resource as it is now, even if it has not changed.
    pub(super) fn renew(&self, resource: &str) {
        let _ = self.wake_tx.send(Wake::Renew(resource.to_owned()));
    }

    /// Ends it.
    pub(super) fn finish(mut self) {
        let _ = self.wake_tx.send(Wake::Finish);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Does a thread's work; if it panics, the owner of all state hears that files are watched no more.
fn alarmed(messages: &Messages, work: impl FnOnce()) {
    let work = std::panic::AssertUnwindSafe(work);
    if std::panic::catch_unwind(work).is_err() {
        let _ = messages.send(Message::Blind);
    }
}

struct Watch {
    doors: Doors,
    messages: Messages,
    watcher: Option<RecommendedWatcher>,
    armed: Armed,
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
            armed: Armed::default(),
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
                Ok(Wake::Check(name)) => self.check(&name, Why::Asked),
                Ok(Wake::Renew(name)) => self.check(&name, Why::Renewed),
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
        let names = event.paths.iter().flat_map(|path| self.armed.names(path));
        let paths: Vec<PathBuf> = names.collect();
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
            for path in &paths {
                any |= watched.touch(path);
            }
        }
        if any {
            self.debounce.note(self.now());
            // Under a steady stream of events no timeout would ever come.
            self.flush();
        }
    }

    /// For events that were lost: a folder among them may have been replaced by another one of its
    /// name, which is not watched.
    fn everything_concerned(&mut self) {
        self.armed.clear();
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
            return self.look(Why::Seen);
        }
        self.flush();
    }

    fn flush(&mut self) {
        if self.debounce.take(self.now()) {
            self.look(Why::Seen);
        }
    }

    /// Looks at every resource that is concerned and reports what changed.
    fn look(&mut self, why: Why) {
        for index in 0..self.watched.len() {
            if !std::mem::take(&mut self.watched[index].concerned) {
                continue;
            }
            let resting = self.watched[index].resting(self.doors.clock.now().as_nanosecond());
            let mut found = self.walk_armed(index);
            let digest = self.cache.digest(&self.doors, &mut found);
            let watched = &mut self.watched[index];
            let before = std::mem::replace(&mut watched.found, found);
            watched.learn(&resting);
            if watched.reported.as_ref() != Some(&digest) {
                watched.reported = Some(digest.clone());
                let message = Message::Source {
                    resource: watched.name.clone(),
                    digest,
                    changed: watched.found.changed_since(&before),
                    why,
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
            let unwatched = self.armed.missing(&found.dirs);
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

    /// Forgets what lay under a path that is gone or has another name now.
    fn disarm(&mut self, path: &Path) {
        let gone = self.armed.remove_below(path);
        for dir in &gone {
            self.unwatch(dir);
        }
        if gone.iter().any(|dir| !dir.starts_with(path)) {
            // A folder may still be there under another name, which is not watched any more either.
            self.everything_concerned();
        }
    }

    fn unwatch(&mut self, dir: &Path) {
        if let Some(watcher) = &mut self.watcher {
            // What is gone is not watched any more.
            let _ = watcher.unwatch(dir);
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
        let watched = sets.into_iter().map(|(name, set)| Watched::new(name, set));
        self.watched = watched.collect();
        self.disarm_unwanted();
        self.look(Why::Seen);
        let files = self.watched.iter().flat_map(|watched| &watched.found.files);
        let files: HashSet<&Path> = files.map(|(_, path)| path.as_path()).collect();
        self.cache.retain(&files);
    }

    /// Stops watching exactly the folders that no resource wants any more; folders below one may
    /// well be wanted.
    fn disarm_unwanted(&mut self) {
        if self.armed.is_empty() {
            return;
        }
        let wanted = self
            .watched
            .iter()
            .flat_map(|watched| watched.set.walk().dirs);
        let wanted: HashSet<PathBuf> = wanted.collect();
        let unwanted = self.armed.besides(&wanted);
        if unwanted.is_empty() {
            return;
        }
        for dir in &unwanted {
            self.unwatch(dir);
        }
        // Two names of one folder share one watch: what is still wanted is watched anew.
        self.armed.clear();
    }

    /// Reports one resource, whether it has changed or not.
    fn check(&mut self, name: &str, why: Why) {
        let mut held = Vec::with_capacity(self.watched.len());
        for watched in &mut self.watched {
            let this = watched.name == name;
            held.push(std::mem::replace(&mut watched.concerned, this) && !this);
            if this {
                watched.reported = None;
            }
        }
        self.look(why);
        for (watched, held) in self.watched.iter_mut().zip(held) {
            watched.concerned = held;
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
