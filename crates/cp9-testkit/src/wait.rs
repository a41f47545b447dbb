//! Waiting for what another process does.

use std::thread;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(20);

/// Asks again and again until the closure gives something, and gives that; panics with `what` when
/// the limit is over. The one place that polls: what is waited for happens in another process,
/// which tells nobody.
#[track_caller]
pub fn wait_until<T>(limit: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + limit;
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(
            Instant::now() < until,
            "waited {limit:?} in vain for {what}"
        );
        thread::sleep(INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_comes_at_last() {
        let mut left = 3;
        let got = wait_until(Duration::from_secs(10), "the third try", || {
            left -= 1;
            (left == 0).then_some("here")
        });
        assert_eq!(got, "here");
    }

    #[test]
    #[should_panic(expected = "in vain for a miracle")]
    fn says_what_did_not_come() {
        wait_until(Duration::ZERO, "a miracle", || None::<()>);
    }
}
