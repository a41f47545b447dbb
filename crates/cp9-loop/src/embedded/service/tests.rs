//! The process machine, event by event.

use cp9_model::devplan::{Check, Probe};
use proptest::prelude::*;

use super::*;

const ID: ProcessId = ProcessId {
    pid: 42,
    start_time: 7,
};

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn probe() -> Probe {
    Probe {
        check: Check::Tcp { port: 1 },
        period_seconds: 10,
        timeout_seconds: 1,
        failure_threshold: 3,
        success_threshold: 1,
    }
}

fn product(binary: &str, source: &str) -> Product {
    Product {
        binary: Some(binary.into()),
        source: source.into(),
    }
}

fn service(live: bool) -> Service {
    Service::new(
        Probes {
            ready: probe(),
            live: live.then(probe),
        },
        true,
    )
}

fn spawn(run: u64, binary: &str, source: &str) -> Action {
    Action::Spawn(
        run,
        Started {
            product: Some(product(binary, source)),
            entry: "e".into(),
        },
    )
}

fn running(live: bool) -> Service {
    let mut service = service(live);
    service.step(Event::Entry("e".into()), secs(0));
    service.step(Event::Product(product("b1", "s1")), secs(0));
    assert_eq!(
        service.step(Event::DepsMet, secs(0)),
        [spawn(1, "b1", "s1")]
    );
    service.step(Event::Spawned(1, ID), secs(0));
    service.step(Event::Probed(1, Which::Ready, Ok(())), secs(1));
    assert_eq!(service.phase(), Phase::Running);
    service
}

#[test]
fn the_first_start_needs_entry_product_and_dependencies_in_any_order() {
    let events = [
        Event::DepsMet,
        Event::Product(product("b1", "s1")),
        Event::Entry("e".into()),
        Event::DepsMet,
    ];
    for shift in 0..3 {
        let mut service = service(false);
        let mut actions = Vec::new();
        for index in 0..3 {
            assert_eq!(actions, [], "started early, shift {shift}");
            actions = service.step(events[(index + shift) % 3].clone(), secs(0));
        }
        assert_eq!(actions, [spawn(1, "b1", "s1")], "shift {shift}");
    }
}

#[test]
fn ready_needs_a_probe_and_gives_the_verdict() {
    let mut service = service(false);
    service.step(Event::Entry("e".into()), secs(0));
    service.step(Event::Product(product("b1", "s1")), secs(0));
    service.step(Event::DepsMet, secs(0));
    let actions = service.step(Event::Spawned(1, ID), secs(0));
    assert_eq!(actions[0], Action::Probe(1, Which::Ready, Duration::ZERO));
    let actions = service.step(
        Event::Probed(1, Which::Ready, Err("refused".into())),
        secs(0),
    );
    assert_eq!(
        actions,
        [Action::Probe(1, Which::Ready, Duration::from_millis(10))]
    );
    assert_eq!((service.phase(), service.verdict), (Phase::Starting, false));
    assert_eq!(service.message.as_deref(), Some("refused"));
    service.step(Event::Probed(1, Which::Ready, Ok(())), secs(0));
    assert_eq!(
        (service.phase(), service.verdict, service.message.clone()),
        (Phase::Running, true, None)
    );
}

#[test]
fn a_new_binary_replaces_the_process_and_the_same_one_does_not() {
    let mut service = running(false);
    assert_eq!(
        service.step(Event::Product(product("b1", "s2")), secs(5)),
        []
    );
    assert_eq!(
        service.started().and_then(|s| s.product.clone()),
        Some(product("b1", "s2"))
    );
    assert_eq!(
        service.step(Event::Product(product("b2", "s3")), secs(5)),
        [Action::Stop(1)]
    );
    assert_eq!(service.phase(), Phase::Stopping);
    // The newest product wins while the old process is still ending.
    assert_eq!(
        service.step(Event::Product(product("b3", "s4")), secs(5)),
        []
    );
    assert_eq!(
        service.step(Event::Exited(1, "gone".into()), secs(5)),
        [spawn(2, "b3", "s4")]
    );
    assert_eq!((service.restarts(), service.verdict), (0, true));
}

#[test]
fn events_of_an_older_run_change_nothing() {
    let mut service = running(false);
    service.step(Event::Triggered, secs(5));
    service.step(Event::Exited(1, "gone".into()), secs(5));
    service.step(Event::Spawned(2, ID), secs(5));
    let before = service.clone();
    for stale in [
        Event::Exited(1, "gone".into()),
        Event::Probed(1, Which::Ready, Ok(())),
        Event::Due(1, Due::Late),
        Event::Due(1, Due::Restart),
        Event::Spawned(1, ID),
        Event::SpawnFailed(1, "no".into()),
    ] {
        assert_eq!(service.step(stale.clone(), secs(6)), [], "{stale:?}");
        assert_eq!(service, before, "{stale:?}");
    }
}

#[test]
fn a_start_that_was_called_off_is_no_verdict() {
    let mut service = service(false);
    service.step(Event::Entry("e".into()), secs(0));
    service.step(Event::Product(product("b1", "s1")), secs(0));
    service.step(Event::DepsMet, secs(0));
    let newer = Event::Product(product("b2", "s2"));
    assert_eq!(service.step(newer, secs(0)), [Action::Stop(1)]);
    let called_off = Event::SpawnFailed(1, "stopped before its start".into());
    assert_eq!(service.step(called_off, secs(0)), [spawn(2, "b2", "s2")]);
    assert_eq!((service.verdict, service.message.clone()), (false, None));

    let failed = Event::SpawnFailed(2, "no such program".into());
    service.step(failed, secs(0));
    assert!(service.verdict);
}

#[test]
fn a_crash_backs_off_and_a_new_binary_starts_at_once() {
    let mut service = running(false);
    let actions = service.step(Event::Exited(1, "exit code 1".into()), secs(2));
    assert_eq!(
        actions,
        [Action::Timer(1, Due::Restart, Duration::from_millis(500))]
    );
    assert_eq!((service.phase(), service.restarts()), (Phase::Backoff, 1));
    assert_eq!(
        service.step(Event::Product(product("b2", "s2")), secs(2)),
        [spawn(2, "b2", "s2")]
    );
    assert_eq!(service.step(Event::Due(1, Due::Restart), secs(3)), []);
    assert_eq!(service.restarts(), 0);
}

#[test]
fn eight_crashes_leave_it_down_until_a_build_or_a_wish() {
    let mut service = running(false);
    let mut run = 1;
    loop {
        let actions = service.step(Event::Exited(run, "exit code 1".into()), secs(2));
        if service.phase() == Phase::Quiescent {
            assert_eq!(actions, []);
            break;
        }
        let [Action::Timer(_, Due::Restart, _)] = actions[..] else {
            panic!("{actions:?}")
        };
        service.step(Event::Due(run, Due::Restart), secs(2));
        run += 1;
        service.step(Event::Spawned(run, ID), secs(2));
    }
    assert_eq!((run, service.restarts()), (8, 8));
    assert!(
        service
            .message
            .as_deref()
            .is_some_and(|m| m.starts_with("exit code 1 (failure 8 of 8"))
    );
    // The same binary again is still a new build.
    assert_eq!(
        service.step(Event::Product(product("b1", "s1")), secs(3)),
        [spawn(9, "b1", "s1")]
    );
}

#[test]
fn a_single_crash_is_no_verdict_but_three_are() {
    let mut service = service(false);
    service.step(Event::Entry("e".into()), secs(0));
    service.step(Event::Product(product("b1", "s1")), secs(0));
    service.step(Event::DepsMet, secs(0));
    for run in 1..=3 {
        service.step(Event::Spawned(run, ID), secs(0));
        service.step(Event::Exited(run, "exit code 1".into()), secs(0));
        assert_eq!(service.verdict, run == 3, "run {run}");
        service.step(Event::Due(run, Due::Restart), secs(0));
    }
}

#[test]
fn a_stable_run_clears_the_count() {
    let mut service = running(false);
    service.step(Event::Exited(1, "exit".into()), secs(2));
    service.step(Event::Due(1, Due::Restart), secs(3));
    service.step(Event::Spawned(2, ID), secs(3));
    assert_eq!(service.restarts(), 1);
    service.step(Event::Due(2, Due::Stable), secs(33));
    assert_eq!(service.restarts(), 0);
}

#[test]
fn liveness_starts_after_readiness_and_restarts_at_its_threshold() {
    let mut service = service(true);
    service.step(Event::Entry("e".into()), secs(0));
    service.step(Event::Product(product("b1", "s1")), secs(0));
    service.step(Event::DepsMet, secs(0));
    let actions = service.step(Event::Spawned(1, ID), secs(0));
    assert!(
        !actions
            .iter()
            .any(|a| matches!(a, Action::Probe(_, Which::Live, _)))
    );
    let actions = service.step(Event::Probed(1, Which::Ready, Ok(())), secs(0));
    assert!(actions.contains(&Action::Probe(1, Which::Live, secs(10))));
    let fail = || Event::Probed(1, Which::Live, Err("500".into()));
    assert_eq!(
        service.step(fail(), secs(10)),
        [Action::Probe(1, Which::Live, secs(10))]
    );
    service.step(fail(), secs(20));
    assert_eq!(service.step(fail(), secs(30)), [Action::Stop(1)]);
    let actions = service.step(Event::Exited(1, "killed".into()), secs(31));
    assert_eq!(
        actions,
        [Action::Timer(1, Due::Restart, Duration::from_millis(500))]
    );
    assert!(
        service
            .message
            .as_deref()
            .is_some_and(|m| m.contains("liveness probe failed: 500"))
    );
}

#[test]
fn a_start_that_never_gets_ready_is_a_verdict_and_can_still_recover() {
    let mut service = service(false);
    service.step(Event::Entry("e".into()), secs(0));
    service.step(Event::Product(product("b1", "s1")), secs(0));
    service.step(Event::DepsMet, secs(0));
    let actions = service.step(Event::Spawned(1, ID), secs(0));
    assert!(actions.contains(&Action::Timer(1, Due::Late, secs(60))));
    service.step(
        Event::Probed(1, Which::Ready, Err("refused".into())),
        secs(0),
    );
    service.step(Event::Due(1, Due::Late), secs(60));
    assert_eq!((service.phase(), service.verdict), (Phase::Unready, true));
    assert_eq!(service.message.as_deref(), Some("refused"));
    service.step(Event::Probed(1, Which::Ready, Ok(())), secs(61));
    assert_eq!(service.phase(), Phase::Running);
}

#[test]
fn an_adopted_process_goes_on_unless_its_entry_changed() {
    let started = Started {
        product: Some(product("b1", "s1")),
        entry: "e".into(),
    };
    let mut service = service(false);
    let actions = service.step(Event::Adopted(ID, started.clone()), secs(0));
    assert_eq!(actions[0], Action::Probe(1, Which::Ready, Duration::ZERO));
    assert_eq!(service.step(Event::Entry("e".into()), secs(0)), []);
    assert_eq!(
        service.step(Event::Product(product("b1", "s1")), secs(0)),
        []
    );
    assert_eq!(service.step(Event::DepsMet, secs(0)), []);

    let mut other = self::service(false);
    other.step(Event::Adopted(ID, started), secs(0));
    assert_eq!(
        other.step(Event::Entry("new".into()), secs(0)),
        [Action::Stop(1)]
    );
}

#[test]
fn stopping_ends_it_for_good() {
    let mut service = running(false);
    assert_eq!(service.step(Event::Stop, secs(9)), [Action::Stop(1)]);
    assert_eq!(
        service.step(Event::Product(product("b2", "s2")), secs(9)),
        []
    );
    assert_eq!(
        service.step(Event::Exited(1, "signal 15".into()), secs(9)),
        []
    );
    assert_eq!(service.phase(), Phase::Stopped);
    assert_eq!(service.step(Event::Triggered, secs(9)), []);

    let mut waiting = self::service(false);
    waiting.step(Event::Stop, secs(0));
    assert_eq!(waiting.phase(), Phase::Stopped);
}

proptest! {
    /// Whatever happens: a process is spawned only when none runs, runs are numbered one by one,
    /// and a stopped service spawns nothing.
    #[test]
    fn never_two_processes_at_once(ops in prop::collection::vec(0u8..11, 1..120)) {
        let mut service = service(true);
        let mut alive = false;
        let mut spawned = 0;
        let mut stopped = false;
        for (index, op) in ops.into_iter().enumerate() {
            let run = spawned;
            let event = match op {
                0 => Event::DepsMet,
                1 => Event::Product(product(&format!("b{}", index % 3), &format!("s{index}"))),
                2 => Event::Entry(format!("e{}", index % 2)),
                3 => Event::Triggered,
                4 if alive => Event::Spawned(run, ID),
                5 | 6 if alive => { alive = false; Event::Exited(run, "exit".into()) }
                7 => Event::Probed(run, Which::Ready, if index % 2 == 0 { Ok(()) } else { Err("no".into()) }),
                8 => Event::Probed(run, Which::Live, Err("no".into())),
                9 => Event::Due(run, Due::Restart),
                10 if index > 60 => { stopped = true; Event::Stop }
                _ => Event::Due(run, Due::Late),
            };
            for action in service.step(event, secs(index as u64)) {
                match action {
                    Action::Spawn(run, _) => {
                        prop_assert!(!alive && !stopped);
                        spawned += 1;
                        prop_assert_eq!(run, spawned);
                        alive = true;
                    }
                    Action::Stop(run) => prop_assert!(alive && run == spawned),
                    Action::Probe(run, ..) | Action::Timer(run, ..) => prop_assert_eq!(run, spawned),
                }
            }
        }
    }
}
