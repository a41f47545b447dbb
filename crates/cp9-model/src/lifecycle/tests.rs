//! Any order of events keeps the invariants; a replay of any prefix equals the live state.

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::explain::Category;
use crate::name::Owner;

fn new() -> SessionState {
    let name = "demo".parse().expect("a valid name");
    SessionState::new(
        "id".into(),
        name,
        "/x/cp9.yaml".into(),
        Timestamp::UNIX_EPOCH,
    )
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("in range")
}

fn start(state: StateName, attempt: u32) -> Event {
    Event::Started {
        state,
        at: at(1),
        input: "d".into(),
        attempt,
    }
}

fn finish(state: StateName) -> Event {
    Event::Finished {
        state,
        at: at(2),
        evidence: vec!["x".into()],
    }
}

fn states() -> impl Strategy<Value = StateName> {
    // Few states, so that random orders often are legal.
    prop::sample::select(&StateName::ALL[..4])
}

fn events() -> impl Strategy<Value = Event> {
    let error = LastError {
        category: "transient".into(),
        code: "c".into(),
        message: "m".into(),
    };
    prop_oneof![
        1 => (0i64..9).prop_map(|s| Event::Recovered { at: at(s) }),
        1 => "[a-c]{1,3}".prop_map(|o| Event::Owned { owner: Owner::new(&o) }),
        6 => (states(), "[de]", 1u32..4).prop_map(|(state, input, attempt)| Event::Started { state, at: at(1), input, attempt }),
        1 => (states(), "[ab]").prop_map(|(state, item)| Event::Item { state, item, status: ItemStatus::Done }),
        6 => states().prop_map(finish),
        3 => states().prop_map(|state| Event::Skipped { state, at: at(2), reason: "r".into() }),
        2 => states().prop_map(move |state| Event::Failed { state, at: at(2), error: error.clone() }),
        1 => states().prop_map(|state| Event::Interrupted { state, at: at(2) }),
        1 => states().prop_map(|state| Event::Invalidated { state }),
        1 => Just(Event::Paused),
    ]
}

fn holds(session: &SessionState) {
    let running: Vec<_> = session
        .states
        .iter()
        .filter(|(_, e)| e.status == StateStatus::Running)
        .map(|(s, _)| *s)
        .collect();
    assert!(running.len() <= 1, "two states run at once: {running:?}");
    for (state, entry) in &session.states {
        if entry.status.is_settled() {
            assert!(
                entry.attempts > 0 && entry.input.is_some() && entry.finished.is_some(),
                "{state}"
            );
        }
        if entry.status == StateStatus::Done {
            assert!(
                !entry.evidence.is_empty(),
                "{state} is done without evidence"
            );
        }
    }
    if session.paused {
        assert!(!session.entry(StateName::SessionReady).status.is_settled());
    }
}

proptest! {
    #[test]
    fn any_order_keeps_the_invariants_and_replays(events in prop::collection::vec(events(), 0..60)) {
        let mut live = new();
        let mut taken = Vec::new();
        for event in events {
            if let Ok(next) = apply(live.clone(), event.clone()) {
                live = next;
                taken.push(event);
            }
            holds(&live);
            let bytes = live.to_bytes();
            prop_assert_eq!(&SessionState::parse("state.json", &bytes).expect("readable"), &live);
            let replayed = taken.iter().cloned().try_fold(new(), apply).expect("legal before, legal again");
            prop_assert_eq!(&replayed, &live);
        }
    }
}

#[test]
fn a_state_waits_for_those_before_it() {
    let err = apply(new(), start(StateName::ConfigLoad, 1)).expect_err("preflight has not settled");
    assert_eq!(
        err.to_string(),
        "state `config_load` is pending and cannot take the event `started`"
    );
    let session = apply(new(), start(StateName::Preflight, 1))
        .and_then(|s| apply(s, finish(StateName::Preflight)));
    assert!(apply(session.expect("legal"), start(StateName::ConfigLoad, 1)).is_ok());
}

#[test]
fn what_a_killed_run_left_running_is_interrupted() {
    let session = apply(new(), start(StateName::Preflight, 1)).expect("legal");
    let session = apply(session, Event::Recovered { at: at(5) }).expect("always legal");
    assert_eq!(
        session.entry(StateName::Preflight).status,
        StateStatus::Interrupted
    );
    assert!(apply(session, start(StateName::Preflight, 1)).is_ok());
}

#[test]
fn a_failure_with_finished_items_is_partial_and_keeps_them() {
    let mut session = new();
    for state in StateName::ALL
        .iter()
        .filter(|s| !s.is_optional() && **s < StateName::ContextMaterialize)
    {
        session = apply(session, start(*state, 1))
            .and_then(|s| apply(s, finish(*state)))
            .expect("legal");
    }
    let state = StateName::ContextMaterialize;
    let item = Event::Item {
        state,
        item: "a".into(),
        status: ItemStatus::Done,
    };
    let error = LastError {
        category: "transient".into(),
        code: "c".into(),
        message: "m".into(),
    };
    session = apply(session, start(state, 1))
        .and_then(|s| apply(s, item))
        .expect("legal");
    session = apply(
        session,
        Event::Failed {
            state,
            at: at(3),
            error,
        },
    )
    .expect("legal");
    assert_eq!(session.entry(state).status, StateStatus::Partial);
    let same = apply(session.clone(), start(state, 2)).expect("legal");
    assert_eq!(same.entry(state).items.len(), 1);
    let changed = Event::Started {
        state,
        at: at(4),
        input: "other".into(),
        attempt: 1,
    };
    let other = apply(session, changed).expect("legal");
    assert!(other.entry(state).items.is_empty());
}

#[test]
fn newer_journals_are_refused() {
    let err =
        SessionState::parse("s.json", br#"{"format": 99, "shape": "unknown"}"#).expect_err("newer");
    assert_eq!(
        err.to_string(),
        "`s.json` has format 99, this cp9 knows up to 1"
    );
    assert!(SessionState::parse("s.json", b"{").is_err());
}

#[test]
fn only_transient_failures_are_tried_again_within_both_budgets() {
    let mut budget = Budget { total: 2 };
    assert_eq!(budget.decide(Category::Config, 1, 3), Retry::Stop);
    assert!(matches!(
        budget.decide(Category::Transient, 1, 3),
        Retry::After(_)
    ));
    assert!(matches!(
        budget.decide(Category::Transient, 2, 3),
        Retry::After(_)
    ));
    assert_eq!(
        budget.decide(Category::Transient, 1, 3),
        Retry::Stop,
        "the total is spent"
    );
    let mut budget = Budget { total: 9 };
    assert_eq!(
        budget.decide(Category::Transient, 3, 3),
        Retry::Stop,
        "the state's own is spent"
    );
}

#[test]
fn the_states_stand_in_the_order_of_the_lifecycle() {
    let words: Vec<_> = StateName::ALL
        .iter()
        .filter(|s| !s.is_optional())
        .map(|s| s.as_str())
        .collect();
    assert_eq!(
        words.join(" "),
        "preflight config_load owner_identity_ready iam_ready substrate_init substrate_plan substrate_apply host_ready service_plan metadb_seed context_materialize tiltfile_generate tilt_ready session_ready"
    );
    for state in StateName::ALL {
        assert_eq!(StateName::parse(state.as_str()), Some(*state));
        assert!(!state.meaning().is_empty());
    }
}
