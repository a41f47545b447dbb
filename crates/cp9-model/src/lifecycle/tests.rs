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

/// What happens next, said relative to where the session stands, so that most events are legal and every
/// state is reached.
#[derive(Debug, Clone)]
enum Step {
    Start { input: String, again: bool },
    Finish,
    Skip,
    Item(String),
    Fail,
    Interrupt,
    Recover,
    Invalidate(StateName),
    Pause,
    Any(Event),
}

fn states() -> impl Strategy<Value = StateName> {
    prop::sample::select(StateName::ALL)
}

fn error() -> LastError {
    LastError {
        category: "transient".into(),
        code: "c".into(),
        message: "m".into(),
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        "[a-c]{1,3}".prop_map(|owner| Event::Owned {
            owner: Owner::new(&owner)
        }),
        (states(), "[de]", 0u32..4).prop_map(|(state, input, attempt)| Event::Started {
            state,
            at: at(1),
            input,
            attempt
        }),
        (states(), "[ab]").prop_map(|(state, item)| Event::Item {
            state,
            item,
            status: ItemStatus::Done
        }),
        states().prop_map(finish),
        states().prop_map(|state| Event::Skipped {
            state,
            at: at(2),
            reason: "r".into()
        }),
        states().prop_map(|state| Event::Failed {
            state,
            at: at(2),
            error: error()
        }),
        states().prop_map(|state| Event::Interrupted { state, at: at(2) }),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => ("[de]", any::<bool>()).prop_map(|(input, again)| Step::Start { input, again }),
        24 => Just(Step::Finish),
        6 => Just(Step::Skip),
        6 => "[ab]".prop_map(Step::Item),
        2 => Just(Step::Fail),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Recover),
        1 => states().prop_map(Step::Invalidate),
        1 => Just(Step::Pause),
        6 => any_event().prop_map(Step::Any),
    ]
}

/// The event that a step means now.
fn event(session: &SessionState, step: Step) -> Event {
    let running = session
        .states
        .iter()
        .find(|(_, entry)| entry.status == StateStatus::Running);
    let state = running
        .map(|(state, _)| *state)
        .or(session.first_unsettled())
        .unwrap_or(StateName::SessionReady);
    match step {
        Step::Start { input, again } => {
            let attempt = if again {
                session.entry(state).attempts + 1
            } else {
                1
            };
            Event::Started {
                state,
                at: at(1),
                input,
                attempt,
            }
        }
        Step::Finish => finish(state),
        Step::Skip => Event::Skipped {
            state,
            at: at(2),
            reason: "r".into(),
        },
        Step::Item(item) => Event::Item {
            state,
            item,
            status: ItemStatus::Done,
        },
        Step::Fail => Event::Failed {
            state,
            at: at(2),
            error: error(),
        },
        Step::Interrupt => Event::Interrupted { state, at: at(2) },
        Step::Recover => Event::Recovered { at: at(3) },
        Step::Invalidate(state) => Event::Invalidated { state },
        Step::Pause => Event::Paused,
        Step::Any(event) => event,
    }
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

/// Everything before a state that runs or has settled in this order has settled too, unless it was
/// invalidated since.
fn follows(before: &SessionState, event: &Event, after: &SessionState) {
    if let Event::Started { state, .. } = event {
        let earlier = before
            .states
            .iter()
            .take_while(|(other, _)| *other != state);
        for (other, entry) in earlier {
            assert!(entry.status.is_settled(), "{state} started before {other}");
        }
        assert_eq!(after.entry(*state).status, StateStatus::Running);
    }
    let changed = before
        .states
        .iter()
        .filter(|(state, entry)| after.states[*state] != **entry)
        .count();
    let many = matches!(event, Event::Recovered { .. } | Event::Paused);
    assert!(changed <= 1 || many, "{event:?} changed {changed} states");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn any_order_keeps_the_invariants_and_replays(steps in prop::collection::vec(steps(), 0..120)) {
        let mut live = new();
        let mut written = vec![(None, live.to_bytes())];
        for step in steps {
            let event = event(&live, step);
            if let Ok(next) = apply(live.clone(), event.clone()) {
                follows(&live, &event, &next);
                live = next;
                written.push((Some(event), live.to_bytes()));
            }
            holds(&live);
        }
        // A run that goes on from what any other run wrote gets where that one got.
        for pair in written.windows(2) {
            let read = SessionState::parse("state.json", &pair[0].1).expect("readable");
            let event = pair[1].0.clone().expect("an event made it");
            prop_assert_eq!(apply(read, event).expect("legal before, legal again").to_bytes(), pair[1].1.clone());
        }
    }
}

#[test]
fn a_whole_run_reaches_the_end_and_a_pause_reopens_it() {
    let mut session = new();
    for state in StateName::ALL.iter().filter(|state| !state.is_optional()) {
        session = apply(session, start(*state, 1))
            .and_then(|s| apply(s, finish(*state)))
            .expect("legal");
    }
    assert_eq!(session.first_unsettled(), None);
    let paused = apply(session, Event::Paused).expect("legal");
    assert_eq!(paused.first_unsettled(), Some(StateName::TiltReady));
    holds(&paused);
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
        .filter(|s| !s.is_optional() && **s < StateName::MetadbSeed)
    {
        session = apply(session, start(*state, 1))
            .and_then(|s| apply(s, finish(*state)))
            .expect("legal");
    }
    let state = StateName::MetadbSeed;
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
