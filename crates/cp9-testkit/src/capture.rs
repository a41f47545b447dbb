//! Collects what a child prints, and lets others wait for it.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

#[derive(Debug, Default)]
struct Collected {
    bytes: Vec<u8>,
    ended: bool,
}

/// One stream of a child, read by a thread of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capture(Arc<(Mutex<Collected>, Condvar)>);

impl Capture {
    /// Starts to read.
    pub(crate) fn of(mut stream: impl Read + Send + 'static) -> Self {
        let capture = Self::default();
        let writer = capture.clone();
        thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                writer.change(|collected| collected.bytes.extend_from_slice(&chunk[..count]));
            }
            writer.change(|collected| collected.ended = true);
        });
        capture
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Collected)) {
        change(&mut self.lock());
        self.0.1.notify_all();
    }

    /// What has come so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    /// Waits for the end of the stream; false when the limit is over first.
    pub(crate) fn wait_end(&self, limit: Duration) -> bool {
        self.wait(limit, |collected| collected.ended.then_some(()))
            .is_some()
    }

    /// Waits for a whole line that fits, and gives it.
    pub(crate) fn wait_line(&self, limit: Duration, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.wait(limit, |collected| {
            let text = String::from_utf8_lossy(&collected.bytes);
            let whole = if collected.ended {
                &text
            } else {
                text.rsplit_once('\n')?.0
            };
            whole.lines().find(|line| fits(line)).map(str::to_owned)
        })
    }

    fn wait<T>(&self, limit: Duration, mut ask: impl FnMut(&Collected) -> Option<T>) -> Option<T> {
        let mut found = None;
        let unfinished = |collected: &mut Collected| {
            found = ask(collected);
            found.is_none() && !collected.ended
        };
        let waited = self.0.1.wait_timeout_while(self.lock(), limit, unfinished);
        drop(waited);
        found
    }
}
