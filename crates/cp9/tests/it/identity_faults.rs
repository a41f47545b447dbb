//! What passes is waited for, and what does not is named: a cloud that is busy, late, or lives at another time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cp9_testkit::aws::{Asked, Fault, Moto};

use crate::identity::Given;

/// An hour of a day long ago, as the service's clock.
const LONG_AGO: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

#[test]
fn a_cloud_that_is_busy_broken_and_late_at_first_is_asked_again() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(moto, |_: &Asked, before| match before {
        0 => Some(Fault::Error(400, "Throttling", "Rate exceeded")),
        1 => Some(Fault::Reset),
        2 => Some(Fault::Slow(Duration::from_millis(300))),
        _ => None,
    });
    given.sandbox.cp9(["up"]).run().assert_code(0);
    given.destroy();
}

#[test]
fn a_clock_that_is_off_is_corrected_for_once_told() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(moto, |_: &Asked, before| {
        (before == 0).then_some(Fault::Skew(LONG_AGO))
    });
    given.sandbox.cp9(["up"]).run().assert_code(0);
    let asked = given.proxy.asked();
    assert!(!asked[0].time.starts_with("20260101"), "{}", asked[0].time);
    assert!(asked[1].time.starts_with("20260101"), "{}", asked[1].time);
    given.destroy();
}

#[test]
fn a_later_up_asks_once_about_an_identity_that_fails() {
    let Some(moto) = Moto::shared() else { return };
    let ends = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&ends);
    let given = Given::new(moto, move |_, _| {
        let ended = ended.load(Ordering::SeqCst);
        ended.then_some(Fault::Error(403, "ExpiredToken", "expired"))
    });
    given.sandbox.cp9(["up"]).run().assert_code(0);
    let before = given.proxy.asked().len();
    ends.store(true, Ordering::SeqCst);
    given.refused("aws-expired", &["aws sso login"]);
    assert_eq!(given.proxy.asked().len(), before + 1);
    ends.store(false, Ordering::SeqCst);
    given.destroy();
}

#[test]
fn a_clock_that_stays_off_is_named() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(moto, |_: &Asked, _| Some(Fault::Skew(LONG_AGO)));
    given.refused("aws-clock-skew", &["clock"]);
}
