//! Repeats under a paused clock.

use std::cell::Cell;

use super::*;
use crate::aws::tests::doors;

fn error(kind: AwsErrorKind) -> AwsError {
    AwsError::new(kind, "ec2", "DescribeVpcs", "eu-west-1")
}

const LIMITS: CallLimits = CallLimits {
    attempt: Duration::from_secs(5),
    overall: Duration::from_mins(1),
    attempts: 5,
};

/// Tries until one succeeds or there are no more.
async fn run<T>(
    doors: &Doors,
    limits: CallLimits,
    idempotent: bool,
    mut attempt: impl AsyncFnMut(Duration) -> Result<T, AwsError>,
) -> Result<T, AwsError> {
    let mut tries = Tries::new(doors, limits, idempotent);
    loop {
        match attempt(tries.limit()).await {
            Ok(value) => return Ok(value),
            Err(error) => tries.after(error).await?,
        }
    }
}

/// How often a call that always fails so is tried.
async fn tries(idempotent: bool, fail: impl Fn() -> AwsError) -> (u32, AwsError) {
    let count = Cell::new(0);
    let result: Result<(), _> = run(&doors(&[]), LIMITS, idempotent, async |_| {
        count.set(count.get() + 1);
        Err(fail())
    })
    .await;
    (count.get(), result.unwrap_err())
}

#[tokio::test(start_paused = true)]
async fn only_what_may_be_repeated_is() {
    use AwsErrorKind::{Denied, Expired, Network, NotFound, Other, Server, Throttled, Timeout};
    for (kind, safe, unsafe_) in [
        (Throttled, 5, 5),
        (Server, 5, 1),
        (Network, 5, 1),
        (Timeout, 2, 1),
        (Denied, 1, 1),
        (NotFound, 1, 1),
        (Expired, 1, 1),
        (Other, 1, 1),
    ] {
        let (count, last) = tries(true, || error(kind)).await;
        assert_eq!(
            (count, last.kind(), last.attempts()),
            (safe, kind, safe),
            "{kind:?}"
        );
        assert_eq!(tries(false, || error(kind)).await.0, unsafe_, "{kind:?}");
    }
    let unsent = || error(Network).edit(|facts| facts.sent = false);
    assert_eq!(
        tries(false, unsent).await.0,
        5,
        "nothing arrived, so nothing is repeated"
    );
}

#[tokio::test(start_paused = true)]
async fn a_later_try_succeeds_within_its_own_limit() {
    let count = Cell::new(0);
    let value = run(&doors(&[]), LIMITS, false, async |limit| {
        assert!(limit <= LIMITS.attempt && !limit.is_zero());
        count.set(count.get() + 1);
        if count.get() < 3 {
            Err(error(AwsErrorKind::Throttled))
        } else {
            Ok(count.get())
        }
    })
    .await;
    assert_eq!(value.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_over_all_tries() {
    let started = Instant::now();
    let limits = CallLimits {
        overall: Duration::from_secs(7),
        attempts: 100,
        ..LIMITS
    };
    let slow = async |limit: Duration| -> Result<(), AwsError> {
        tokio::time::sleep(limit.min(Duration::from_secs(3))).await;
        Err(error(AwsErrorKind::Server))
    };
    let failed = run(&doors(&[]), limits, true, slow).await;
    assert_eq!(failed.unwrap_err().kind(), AwsErrorKind::Server);
    assert!(
        started.elapsed() <= Duration::from_secs(7),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn what_the_service_asks_for_is_waited() {
    let started = Instant::now();
    let asks = |seconds| {
        move || {
            let wait = Some(Duration::from_secs(seconds));
            error(AwsErrorKind::Throttled).edit(|facts| facts.retry_after = wait)
        }
    };
    let (count, _) = tries(true, asks(4)).await;
    assert_eq!(count, 5);
    assert!(started.elapsed() >= Duration::from_secs(16));
    let (count, _) = tries(true, asks(3600)).await;
    assert_eq!(count, 1, "a wait past the deadline is not begun");
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_the_pause() {
    let doors = doors(&[]);
    let cancel = doors.cancel.clone();
    let failed: Result<(), _> = run(&doors, LIMITS, true, async |_| {
        cancel.cancel();
        let wait = Some(Duration::from_secs(30));
        Err(error(AwsErrorKind::Throttled).edit(|facts| facts.retry_after = wait))
    })
    .await;
    assert_eq!(failed.unwrap_err().kind(), AwsErrorKind::Interrupted);
}

#[test]
fn pauses_double_up_to_a_limit_with_full_jitter() {
    let longest = |tried| pause(&error(AwsErrorKind::Throttled), tried, 1.0).as_millis();
    assert_eq!(
        [longest(1), longest(2), longest(3), longest(40)],
        [500, 1000, 2000, 20_000]
    );
    assert_eq!(pause(&error(AwsErrorKind::Server), 1, 1.0).as_millis(), 100);
    assert_eq!(
        pause(&error(AwsErrorKind::Throttled), 9, 0.0),
        Duration::ZERO
    );
    let numbers: Vec<f64> = (0..64).map(|_| fraction()).collect();
    assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)));
    assert!(numbers.iter().any(|number| *number < 0.5) && numbers.iter().any(|n| *n > 0.5));
}
