//! What the reaper does with time: passes and pauses, budgets, slowing down, stopping and going on.

use std::collections::BTreeSet;
use std::time::Duration;

use cp9_model::reaper::{Class, Found, Key, Reason, Survivor};
use cp9_model::scope::{TAG_OWNER, TAG_SESSION};
use cp9_tools::CancellationToken;
use tokio::time::Instant;

use super::super::{Event, Interrupted, Limits, Reaped, Reaper};
use super::account::{Account, HOURS, Thing, scope};
use crate::cloud::ProvenScope;

fn key(kind: &str, id: &str) -> Key {
    Key::new("here", kind, id)
}

fn ours(kind: &str, id: &str) -> Thing {
    let tags = [(TAG_OWNER, "ann@example.com"), (TAG_SESSION, "shop")];
    let mut found = Found::new(key(kind, id));
    found.tags = Some(tags.map(|(key, value)| (key.into(), value.into())).into());
    Thing::new(found)
}

fn reaper(account: &Account, ledger: &[Key], cancel: &CancellationToken) -> Reaper<Account> {
    let regions = ["here".to_owned()].into();
    let ledger = ledger.iter().cloned().collect();
    let proven = ProvenScope::new(scope());
    Reaper::new(account.clone(), &proven, regions, ledger, cancel.clone())
}

async fn reap(account: &Account, ledger: &[Key]) -> Reaped {
    let at_work = reaper(account, ledger, &CancellationToken::new());
    let survey = at_work.survey().await.expect("nobody cancels");
    at_work
        .reap(survey, false, &mut |_| {})
        .await
        .expect("nobody cancels")
}

fn reason(reaped: &Reaped, id: &str) -> Option<Reason> {
    let mut all = reaped.survivors.iter();
    all.find(|one| one.key.id == id)
        .map(|one| one.reason.clone())
}

#[tokio::test(start_paused = true)]
async fn each_object_takes_three_calls_and_two_scans_decide() {
    let account = Account::with((0..40).map(|at| ours("machine", &at.to_string())));
    let reaped = reap(&account, &[]).await;
    assert_eq!(reaped.survivors, []);
    assert_eq!(reaped.deleted.len(), 40);
    let state = account.state();
    assert_eq!(state.calls.len(), 40);
    assert_eq!(state.looks, 80);
    assert_eq!(state.scans, 3, "one before, two after the last delete");
}

#[tokio::test(start_paused = true)]
async fn an_account_without_anything_is_looked_at_once() {
    let account = Account::default();
    assert_eq!(reap(&account, &[]).await, Reaped::default());
    assert_eq!(account.state().scans, 1);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_kind_has_five_passes_with_growing_pauses() {
    let mut mystery = ours("mystery", "m");
    mystery.refuses = Some(Class::Permanent);
    let account = Account::with([mystery, ours("machine", "known")]);
    let at_work = reaper(&account, &[], &CancellationToken::new());
    let survey = at_work.survey().await.expect("nobody cancels");
    let mut pauses = Vec::new();
    let mut tell = |event: Event<'_>| {
        if let Event::Pass { pass, pause } = event {
            pauses.push((pass, pause.as_secs()));
        }
    };
    let reaped = at_work
        .reap(survey, false, &mut tell)
        .await
        .expect("nobody cancels");
    assert_eq!(pauses, [(2, 2), (3, 4), (4, 8), (5, 16)]);
    assert_eq!(
        reason(&reaped, "m"),
        Some(Reason::UnknownType("Refused".into()))
    );
    let calls = account.state().calls.clone();
    assert_eq!(calls[0], key("machine", "known"), "the unknown one is last");
    assert_eq!(calls.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_gone_in_its_time_names_what_it_waits_for() {
    let mut net = ours("net", "net");
    net.slow = 1;
    let mut user = Thing::new(Found::new(key("machine", "hidden")));
    user.late = u32::MAX;
    user.hidden = vec![net.found.key.clone()];
    let account = Account::with([net, user]);
    let begun = Instant::now();
    let reaped = reap(&account, &[]).await;
    let left = &reaped.survivors[0];
    assert!(matches!(&left.reason, Reason::Timeout(why) if why.contains("DependencyViolation")));
    assert_eq!(left.blocker, Some(key("machine", "hidden")));
    assert!(begun.elapsed() >= HOURS && begun.elapsed() < HOURS + Duration::from_mins(1));
    let calls = account.state().calls.len();
    assert!(calls < 800, "{calls} calls in six hours: the pauses grow");
}

#[tokio::test(start_paused = true)]
async fn what_blocked_and_is_gone_later_blocks_no_more() {
    let net = ours("net", "net");
    let mut late = ours("machine", "late");
    late.late = 1;
    late.hidden = vec![net.found.key.clone()];
    let account = Account::with([net, late]);
    let reaped = reap(&account, &[]).await;
    assert_eq!(reaped.survivors, []);
    assert_eq!(reaped.deleted.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_is_neither_found_nor_gone_is_a_tagging_gap() {
    let mut untagged = ours("machine", "untagged");
    untagged.found.tags = Some([].into());
    untagged.late = u32::MAX;
    let account = Account::with([untagged]);
    account.state().blind.insert(key("machine", "blind"));
    let claims = ["untagged", "blind", "gone"].map(|id| key("machine", id));
    let reaped = reap(&account, &claims).await;
    assert_eq!(reason(&reaped, "untagged"), Some(Reason::Untagged));
    assert_eq!(
        reason(&reaped, "blind"),
        Some(Reason::Unconfirmed("AccessDenied".into()))
    );
    assert_eq!(reason(&reaped, "gone"), None);
    assert!(account.state().things.contains_key(&claims[0]));
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_the_scan_misses_and_that_carries_the_tags_is_deleted() {
    let mut missed = ours("machine", "missed");
    missed.late = u32::MAX;
    let claim = missed.found.key.clone();
    let account = Account::with([missed]);
    let reaped = reap(&account, std::slice::from_ref(&claim)).await;
    assert_eq!(reaped.survivors, []);
    assert_eq!(reaped.deleted, [claim]);
}

#[tokio::test(start_paused = true)]
async fn tags_that_change_after_the_scan_stop_the_delete() {
    let account = Account::with([ours("machine", "m")]);
    let at_work = reaper(&account, &[], &CancellationToken::new());
    let survey = at_work.survey().await.expect("nobody cancels");
    let retag = |thing: &mut Thing| {
        let tags = thing.found.tags.as_mut().expect("tags");
        tags.insert(TAG_OWNER.into(), "bob@example.com".into());
    };
    retag(
        account
            .state()
            .things
            .get_mut(&key("machine", "m"))
            .expect("it is there"),
    );
    let reaped = at_work
        .reap(survey, false, &mut |_| {})
        .await
        .expect("nobody cancels");
    assert_eq!(account.state().calls, []);
    assert_eq!(reason(&reaped, "m"), Some(Reason::OtherScope));
}

#[tokio::test(start_paused = true)]
async fn what_is_made_again_for_ever_is_given_up() {
    let mut machine = ours("machine", "m");
    machine.back = u32::MAX;
    let account = Account::with([machine]);
    let reaped = reap(&account, &[]).await;
    assert_eq!(reason(&reaped, "m"), Some(Reason::ComesBack));
    assert_eq!(reaped.deleted, []);
}

/// `idempotent reaper resume` of the seeds, at every step: whatever the first run had come to, the second one
/// goes on from the list that the first one left, and ends with nothing.
#[tokio::test(start_paused = true)]
async fn idempotent_reaper_resume() {
    let estate = || {
        let net = ours("net", "net");
        let mut machine = ours("machine", "m");
        machine.slow = 2;
        machine.found.uses = vec![net.found.key.clone()];
        let mut part = ours("part", "p");
        part.found.inside = Some(net.found.key.clone());
        Account::with([net, machine, part])
    };
    let mut stopped = 0;
    for step in 0..12 {
        let account = estate();
        let (ended, left) = interrupted(&account, step).await;
        if ended == Err(Interrupted) {
            stopped += 1;
            let there: BTreeSet<Key> = account.state().things.keys().cloned().collect();
            let known: BTreeSet<Key> = left.iter().map(|one| one.key.clone()).collect();
            assert!(
                step == 0 || there.is_subset(&known),
                "step {step}: {known:?}"
            );
            // From the list alone: the tagging API shows nothing any more.
            for thing in account.state().things.values_mut() {
                thing.late = u32::MAX;
            }
            let claims: Vec<Key> = left.iter().map(|one| one.key.clone()).collect();
            let reaped = reap(&account, &claims).await;
            assert_eq!(reaped.survivors, [], "step {step}");
            assert!(
                step == 0 || account.state().things.is_empty(),
                "step {step}"
            );
        }
    }
    assert!(stopped >= 6, "stopped {stopped} times in the middle");
}

/// A run that is cancelled at its event of this number, and what it told last of what is left.
async fn interrupted(account: &Account, step: usize) -> (Result<(), Interrupted>, Vec<Survivor>) {
    let cancel = CancellationToken::new();
    let at_work = reaper(account, &[], &cancel);
    if step == 0 {
        cancel.cancel();
        return (at_work.survey().await.map(drop), Vec::new());
    }
    let survey = at_work.survey().await.expect("not yet cancelled");
    let (mut count, mut left) = (0, Vec::new());
    let mut tell = |event: Event<'_>| {
        count += 1;
        if let Event::Left(survivors) = event {
            left = survivors.to_vec();
        }
        if count > step {
            cancel.cancel();
        }
    };
    let ended = at_work.reap(survey, false, &mut tell).await;
    (ended.map(drop), left)
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_ends_at_once_wherever_it_waits() {
    let mut slow = ours("machine", "m");
    slow.slow = u32::MAX;
    let account = Account::with([slow]);
    let cancel = CancellationToken::new();
    let at_work = reaper(&account, &[], &cancel);
    let survey = at_work.survey().await.expect("not yet cancelled");
    let begun = Instant::now();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(61)).await;
        cancel.cancel();
    };
    let mut tell = |_: Event<'_>| {};
    let (ended, ()) = tokio::join!(at_work.reap(survey, false, &mut tell), stop);
    assert_eq!(ended, Err(Interrupted));
    assert_eq!(begun.elapsed().as_secs(), 61);
}

#[tokio::test(start_paused = true)]
async fn throttling_slows_everything_down_and_ends_nothing() {
    let account = Account::with((0..60).map(|at| ours("machine", &at.to_string())));
    {
        let mut state = account.state();
        state.throttle = 3;
        state.dice = 7;
    }
    let reaped = reap(&account, &[]).await;
    assert_eq!(reaped.survivors, []);
    assert_eq!(reaped.deleted.len(), 60);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_its_share_of_one_kind_is_tried_at_once() {
    let account = Account::with((0..30).map(|at| ours("machine", &at.to_string())));
    let at_work = reaper(&account, &[], &CancellationToken::new()).limits(Limits {
        at_once: 8,
        ..Limits::default()
    });
    let survey = at_work.survey().await.expect("nobody cancels");
    at_work
        .reap(survey, false, &mut |_| {})
        .await
        .expect("nobody cancels");
    assert_eq!(account.state().most, 3);
}
