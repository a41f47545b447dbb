//! What is to happen later, in the order of its time.

use std::collections::BTreeMap;

use tokio::time::Instant;

/// Things that fall due.
#[derive(Debug)]
pub(super) struct Timers<T> {
    queue: BTreeMap<(Instant, u64), T>,
    count: u64,
}

impl<T> Timers<T> {
    pub(super) fn new() -> Self {
        Self {
            queue: BTreeMap::new(),
            count: 0,
        }
    }

    /// Sets one for a moment.
    pub(super) fn set(&mut self, at: Instant, what: T) {
        self.count += 1;
        self.queue.insert((at, self.count), what);
    }

    /// The next moment that something falls due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// One thing that is due by now.
    pub(super) fn due(&mut self, now: Instant) -> Option<T> {
        let entry = self.queue.first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }

    /// Drops what is no longer wanted.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.queue.retain(|_, what| keep(what));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn due_in_the_order_of_time_then_of_setting() {
        let now = Instant::now();
        let mut timers = Timers::new();
        timers.set(now + Duration::from_secs(2), "c");
        timers.set(now + Duration::from_secs(1), "a");
        timers.set(now + Duration::from_secs(1), "b");
        timers.set(now + Duration::from_secs(1), "dropped");
        timers.retain(|what| *what != "dropped");
        assert_eq!(timers.due(now), None);
        tokio::time::advance(Duration::from_secs(1)).await;
        let now = Instant::now();
        assert_eq!(
            (timers.due(now), timers.due(now), timers.due(now)),
            (Some("a"), Some("b"), None)
        );
        assert_eq!(timers.next(), Some(now + Duration::from_secs(1)));
    }
}
