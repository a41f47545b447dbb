//! The build machine, event by event.

use proptest::prelude::*;

use super::*;

fn product(source: &str) -> Product {
    Product {
        binary: Some(format!("bin-{source}")),
        source: source.into(),
    }
}

fn start(number: u64, source: &str) -> Action {
    Action::Start {
        number,
        source: source.into(),
    }
}

fn built(number: u64, source: &str) -> Event {
    Event::Finished {
        number,
        outcome: Outcome::Built(product(source)),
        millis: 7,
    }
}

fn failed(number: u64) -> Event {
    Event::Finished {
        number,
        outcome: Outcome::Failed("error: no".into()),
        millis: 7,
    }
}

fn killed(number: u64) -> Event {
    Event::Finished {
        number,
        outcome: Outcome::Killed,
        millis: 7,
    }
}

fn source(digest: &str) -> Event {
    Event::Source(digest.into())
}

fn fresh(auto: bool) -> Builder {
    let mut builder = Builder::new(auto);
    assert_eq!(builder.step(Event::DepsMet), []);
    builder
}

#[test]
fn waits_for_its_dependencies() {
    let mut builder = Builder::new(true);
    assert_eq!(builder.step(source("a")), []);
    assert_eq!(
        (builder.phase(), builder.verdict()),
        (Phase::Waiting, false)
    );
    assert_eq!(builder.step(Event::DepsMet), [start(1, "a")]);
    assert_eq!(builder.phase(), Phase::Building);
}

#[test]
fn a_save_builds_once_and_the_same_content_never_again() {
    let mut builder = fresh(true);
    assert_eq!(builder.step(source("a")), [start(1, "a")]);
    assert_eq!(builder.step(built(1, "a")), [Action::Deliver(product("a"))]);
    assert_eq!(builder.step(source("a")), []);
    assert_eq!(builder.step(source("b")), [start(2, "b")]);
    assert_eq!(builder.step(source("b")), []);
    assert_eq!(builder.step(built(2, "b")), [Action::Deliver(product("b"))]);
    assert_eq!((builder.runs, builder.ready()), (2, true));
}

#[test]
fn a_change_during_a_build_kills_it_and_builds_the_newest_once() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    assert_eq!(builder.step(source("b")), [Action::Kill(1)]);
    assert_eq!(builder.step(source("c")), []);
    assert_eq!(builder.step(killed(1)), [start(2, "c")]);
    assert_eq!(builder.runs, 0);
}

#[test]
fn a_build_that_won_the_race_against_its_kill_is_delivered_and_redone() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    builder.step(source("b"));
    assert_eq!(
        builder.step(built(1, "a")),
        [Action::Deliver(product("a")), start(2, "b")]
    );
}

#[test]
fn a_failure_of_a_killed_build_is_no_verdict() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    builder.step(source("b"));
    assert_eq!(builder.step(failed(1)), [start(2, "b")]);
    assert_eq!((builder.verdict(), builder.message()), (false, None));
}

#[test]
fn an_undone_change_builds_nothing_more() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    builder.step(built(1, "a"));
    assert_eq!(builder.step(source("b")), [start(2, "b")]);
    assert_eq!(builder.step(source("a")), [Action::Kill(2)]);
    assert_eq!(builder.step(killed(2)), []);
    assert_eq!(builder.phase(), Phase::Built);
}

#[test]
fn a_failed_build_keeps_the_product_and_waits_for_a_change_or_a_wish() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    builder.step(built(1, "a"));
    builder.step(source("b"));
    assert_eq!(builder.step(failed(2)), []);
    assert_eq!((builder.phase(), builder.ready()), (Phase::Failed, false));
    assert_eq!(builder.message().as_deref(), Some("error: no"));
    assert_eq!(builder.product, Some(product("a")));
    assert_eq!(builder.step(source("b")), []);
    assert_eq!(builder.step(Event::Triggered("b".into())), [start(3, "b")]);
    builder.step(built(3, "b"));
    assert_eq!(builder.message(), None);
}

#[test]
fn a_trigger_during_a_build_of_the_same_files_adds_none() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    assert_eq!(builder.step(Event::Triggered("a".into())), []);
    assert_eq!(builder.step(built(1, "a")), [Action::Deliver(product("a"))]);
    assert_eq!(builder.step(Event::Triggered("a".into())), [start(2, "a")]);
}

#[test]
fn endless_saves_do_not_starve_the_build() {
    let mut builder = fresh(true);
    builder.step(source("0"));
    for round in 1..=KILLS {
        let next = round.to_string();
        assert_eq!(
            builder.step(source(&next)),
            [Action::Kill(u64::from(round))]
        );
        let started = builder.step(killed(u64::from(round)));
        assert_eq!(started, [start(u64::from(round) + 1, &next)]);
    }
    assert_eq!(builder.step(source("newest")), []);
    let last = u64::from(KILLS) + 1;
    let actions = builder.step(built(last, "3"));
    assert_eq!(
        actions,
        [Action::Deliver(product("3")), start(last + 1, "newest")]
    );
    assert_eq!(builder.step(source("more")), [Action::Kill(last + 1)]);
}

#[test]
fn a_triggered_build_that_was_killed_is_redone() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    builder.step(built(1, "a"));
    builder.step(Event::Triggered("a".into()));
    assert_eq!(builder.step(source("b")), [Action::Kill(2)]);
    builder.step(source("a"));
    assert_eq!(builder.step(killed(2)), [start(3, "a")]);
}

#[test]
fn a_manual_resource_builds_at_first_and_then_only_when_asked() {
    let mut builder = fresh(false);
    assert_eq!(builder.step(source("a")), [start(1, "a")]);
    builder.step(built(1, "a"));
    assert_eq!(builder.step(source("b")), []);
    assert!(builder.ready() && builder.message().is_some());
    assert_eq!(builder.step(Event::Triggered("b".into())), [start(2, "b")]);
    assert_eq!(builder.step(source("c")), []);
    builder.step(built(2, "b"));
    assert_eq!(builder.phase(), Phase::Built);
}

#[test]
fn an_intact_product_of_these_files_is_not_built_again() {
    let mut builder = fresh(true);
    assert_eq!(builder.step(Event::Resumed(product("a"))), []);
    assert!(!builder.verdict());
    assert_eq!(builder.step(source("a")), [Action::Deliver(product("a"))]);
    assert!(builder.ready() && builder.verdict());
    assert_eq!(builder.step(source("b")), [start(1, "b")]);
}

#[test]
fn an_intact_product_of_other_files_is_not_delivered() {
    let mut builder = fresh(true);
    builder.step(Event::Resumed(product("a")));
    assert_eq!(builder.step(source("b")), [start(1, "b")]);
    assert_eq!((builder.verdict(), builder.product.clone()), (false, None));

    let mut manual = fresh(false);
    manual.step(Event::Resumed(product("a")));
    assert_eq!(manual.step(source("b")), [Action::Deliver(product("a"))]);
    assert!(manual.message().is_some());
}

#[test]
fn another_way_to_build_ends_the_build_in_flight_and_builds_the_same_files() {
    let mut builder = fresh(true);
    assert_eq!(builder.step(Event::Replanned), []);
    builder.step(source("a"));
    assert_eq!(builder.step(Event::Replanned), [Action::Kill(1)]);
    assert_eq!(builder.step(killed(1)), [start(2, "a")]);
    builder.step(built(2, "a"));
    assert_eq!(builder.step(Event::Replanned), [start(3, "a")]);
}

#[test]
fn only_a_failed_build_gets_another_chance() {
    let mut builder = fresh(true);
    assert_eq!(builder.step(Event::Retry), []);
    builder.step(source("a"));
    assert_eq!(builder.step(Event::Retry), []);
    builder.step(failed(1));
    assert_eq!(builder.step(Event::Retry), [start(2, "a")]);
    builder.step(built(2, "a"));
    assert_eq!(builder.step(Event::Retry), []);

    let mut manual = fresh(false);
    manual.step(source("a"));
    manual.step(failed(1));
    assert_eq!(manual.step(Event::Retry), [start(2, "a")]);
}

#[test]
fn stopping_kills_and_starts_nothing() {
    let mut builder = fresh(true);
    builder.step(source("a"));
    assert_eq!(builder.step(Event::Stop), [Action::Kill(1)]);
    assert_eq!(builder.phase(), Phase::Stopping);
    assert_eq!(builder.step(killed(1)), []);
    assert_eq!(builder.phase(), Phase::Stopped);
    assert_eq!(builder.step(Event::Triggered("b".into())), []);
}

proptest! {
    /// However saves, wishes and endings mix: one build at a time, numbers grow by one, and when
    /// all is quiet the newest content has been built or has failed.
    #[test]
    fn at_most_one_build_runs_and_the_newest_content_wins(ops in prop::collection::vec((0u8..5, 0u8..4), 1..80)) {
        let mut builder = fresh(true);
        let mut running: Option<(u64, String)> = None;
        let mut newest = String::new();
        let mut numbers = 0;
        let finish = |builder: &mut Builder, running: &mut Option<(u64, String)>, fail: bool| {
            let Some((number, from)) = running.take() else { return Vec::new() };
            builder.step(if fail { failed(number) } else { built(number, &from) })
        };
        let mut check = |actions: Vec<Action>, running: &mut Option<(u64, String)>| -> Result<(), TestCaseError> {
            for action in actions {
                if let Action::Start { number, source } = action {
                    prop_assert!(running.is_none());
                    numbers += 1;
                    prop_assert_eq!(number, numbers);
                    *running = Some((number, source));
                }
            }
            Ok(())
        };
        for (op, content) in ops {
            let digest = format!("d{content}");
            let actions = match op {
                0 | 1 => { newest.clone_from(&digest); builder.step(source(&digest)) }
                2 => { newest.clone_from(&digest); builder.step(Event::Triggered(digest)) }
                3 => finish(&mut builder, &mut running, false),
                _ => finish(&mut builder, &mut running, true),
            };
            check(actions, &mut running)?;
        }
        for _ in 0..4 {
            let actions = finish(&mut builder, &mut running, false);
            check(actions, &mut running)?;
        }
        prop_assert!(running.is_none());
        if !newest.is_empty() {
            prop_assert_eq!(builder.source(), Some(newest));
        }
    }
}

fn echo(digest: &str) -> Event {
    Event::Echo {
        digest: digest.into(),
        files: vec!["/src/made.rs".into()],
    }
}

#[test]
fn a_build_that_writes_what_it_watches_does_not_go_on_for_ever() {
    let mut builder = fresh(true);
    builder.step(source("0"));
    let mut number = 1;
    loop {
        let from = (number - 1).to_string();
        builder.step(built(number, &from));
        let actions = builder.step(echo(&number.to_string()));
        if actions.is_empty() {
            break;
        }
        assert_eq!(actions, [start(number + 1, &number.to_string())]);
        number += 1;
    }
    assert_eq!((number, builder.phase()), (5, Phase::Built));
    let message = builder.message().expect("it says so");
    assert!(message.contains("`/src/made.rs`"), "{message}");
    assert_eq!(builder.step(source("5")), [], "the same files again");
    assert!(builder.message().is_some());
    assert_eq!(builder.step(source("by hand")), [start(6, "by hand")]);
    builder.step(built(6, "by hand"));
    assert_eq!(builder.message(), None);
    assert_eq!(builder.step(echo("x")), [start(7, "x")], "counted anew");
}

#[test]
fn a_build_that_writes_what_it_watches_comes_to_its_end() {
    let mut builder = fresh(true);
    builder.step(source("0"));
    for number in 1..=3 {
        assert_eq!(
            builder.step(echo(&format!("e{number}"))),
            [Action::Kill(number)]
        );
        builder.step(killed(number));
    }
    assert_eq!(builder.step(echo("e4")), []);
    assert_eq!(builder.step(built(4, "e3"))[1], start(5, "e4"));
    assert_eq!(builder.step(echo("e5")), [], "known by now");
    assert_eq!(builder.step(built(5, "e4"))[1], start(6, "e5"));
    assert_eq!(builder.step(Event::Triggered("e5".into())), []);
    assert_eq!(builder.step(source("by hand")), [Action::Kill(6)]);
}
