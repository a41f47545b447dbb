//! From any random account: exit 0 if and only if nothing of the scope is left, nothing outside of it is ever
//! deleted or changed, and what nothing is in the way of is gone.

use std::collections::{BTreeMap, BTreeSet};

use cp9_model::reaper::{Class, Found, GLOBAL, Key, Maker, Standing, Unverified, Why};
use cp9_model::scope::{TAG_OWNER, TAG_SESSION};
use cp9_tools::CancellationToken;
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{Limits, Reaped, Reaper};
use super::account::{Account, HOURS, KINDS, State, Thing, scope};
use crate::cloud::ProvenScope;

/// How one object is made.
#[derive(Debug, Clone)]
struct Spec {
    kind: usize,
    place: u8,
    tags: u8,
    maker: u8,
    trouble: u8,
    ledgered: bool,
    uses: Vec<Index>,
    hidden: Vec<Index>,
    inside: Option<Index>,
}

fn spec() -> impl Strategy<Value = Spec> {
    let links = |most| prop::collection::vec(any::<Index>(), 0..=most);
    let made = (0..5_usize, 0..12_u8, 0..12_u8, 0..8_u8, 0..30_u8);
    let tied = (
        prop::bool::weighted(0.2),
        links(2),
        prop_oneof![4 => Just(vec![]), 1 => links(1)],
        prop::option::weighted(0.4, any::<Index>()),
    );
    (made, tied).prop_map(|(made, tied)| Spec {
        kind: made.0,
        place: made.1,
        tags: made.2,
        maker: made.3,
        trouble: made.4,
        ledgered: tied.0,
        uses: tied.1,
        hidden: tied.2,
        inside: tied.3,
    })
}

fn key(at: usize, spec: &Spec) -> Key {
    let kind = KINDS.get(spec.kind).unwrap_or(&"mystery");
    let region = match spec.place {
        0 => "there",
        1 | 2 => GLOBAL,
        _ => "here",
    };
    Key::new(region, *kind, at.to_string())
}

fn tags(spec: &Spec) -> Option<BTreeMap<String, String>> {
    let both = |owner: &str, session: &str| {
        let tags = [(TAG_OWNER, owner), (TAG_SESSION, session)];
        Some(tags.map(|(key, value)| (key.into(), value.into())).into())
    };
    match spec.tags {
        0 => None,
        1 => Some(BTreeMap::new()),
        2 => both("bob@example.com", "shop"),
        3 => both("ann@example.com", "other"),
        4 => Some([(TAG_SESSION.into(), "shop".into())].into()),
        _ => both("ann@example.com", "shop"),
    }
}

/// Links lead to objects of a higher number, so that there are no circles; groups may name each other.
fn thing(at: usize, specs: &[Spec], keys: &[Key]) -> Thing {
    let (spec, key) = (&specs[at], &keys[at]);
    let later = |index: &Index| {
        let rest = keys.get(at + 1..).filter(|rest| !rest.is_empty())?;
        Some(rest[index.index(rest.len())].clone())
    };
    let group = |index: &Index| {
        let other = &keys[index.index(keys.len())];
        let both = key.kind == "group" && other.kind == "group" && other != key;
        both.then(|| other.clone())
    };
    let mut found = Found::new(key.clone());
    found.tags = tags(spec);
    found.uses = spec
        .uses
        .iter()
        .filter_map(|one| group(one).or_else(|| later(one)))
        .collect();
    found.inside = spec.inside.as_ref().and_then(later);
    found.maker = match spec.maker {
        0 => Maker::Default,
        1 => Maker::Cloud { by: "x".into() },
        _ => Maker::Person,
    };
    found.protection = (spec.trouble == 0).then(|| "a lock".into());
    let mut thing = Thing::new(found);
    thing.hidden = spec.hidden.iter().filter_map(later).collect();
    match spec.trouble {
        1 => thing.refuses = Some(Class::Denied),
        2 => thing.refuses = Some(Class::Permanent),
        3 => thing.refuses = Some(Class::Protected),
        4 => thing.back = u32::MAX,
        5 => thing.back = 1,
        6 | 7 => thing.late = 1,
        8 | 9 => thing.ghost = true,
        10..=15 => thing.slow = u32::from(spec.trouble - 9),
        _ => {}
    }
    thing
}

struct Run {
    before: BTreeMap<Key, Thing>,
    ledger: BTreeSet<Key>,
    state: Account,
    reaped: Reaped,
}

fn run(specs: &[Spec], throttle: u64, dice: u64, blind: bool) -> Run {
    let keys: Vec<Key> = specs
        .iter()
        .enumerate()
        .map(|(at, spec)| key(at, spec))
        .collect();
    let things: Vec<Thing> = (0..specs.len()).map(|at| thing(at, specs, &keys)).collect();
    let account = Account::with(things);
    let before = account.state().things.clone();
    {
        let mut state = account.state();
        state.throttle = throttle;
        state.dice = dice | 1;
        state.unverified = blind.then(unseen).into_iter().collect();
    }
    let ledgered = keys.iter().zip(specs).filter(|(_, spec)| spec.ledgered);
    let ledger: BTreeSet<Key> = ledgered.map(|(key, _)| key.clone()).collect();
    let reaped = reap(&account, ledger.clone());
    Run {
        before,
        ledger,
        state: account,
        reaped,
    }
}

fn unseen() -> Unverified {
    Unverified {
        region: "here".into(),
        kind: None,
        service: "cloud".into(),
        permission: Some("cloud:List".into()),
        why: Why::Denied,
        message: String::new(),
    }
}

fn reap(account: &Account, ledger: BTreeSet<Key>) -> Reaped {
    let limits = Limits {
        unknown: HOURS,
        ..Limits::default()
    };
    let reaper = Reaper::new(
        account.clone(),
        &ProvenScope::new(scope()),
        ["here".to_owned()].into(),
        ledger,
        CancellationToken::new(),
    );
    let reaper = reaper.limits(limits);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let survey = reaper.survey().await.expect("nobody cancels");
        // As after Terraform: something was deleted a moment ago, so what is late still shows.
        reaper
            .reap(survey, true, &mut |_| {})
            .await
            .expect("nobody cancels")
    })
}

fn is_ours(thing: &Thing) -> bool {
    thing.found.standing(&scope()) == Standing::Ours
}

/// Whether anything of the scope is left: what carries its tags, what the session knows, and what somebody
/// put into one of its containers.
fn is_left(state: &State, ledger: &BTreeSet<Key>) -> bool {
    let there = state.things.values().filter(|one| !one.ghost);
    let mut left = there.filter(|one| is_ours(one) || ledger.contains(&one.found.key));
    left.next().is_some()
}

/// What has nothing in its way, not even further down, and no trouble of its own.
fn is_free(key: &Key, before: &BTreeMap<Key, Thing>) -> bool {
    let mut seen = BTreeSet::from([key.clone()]);
    let mut open = vec![key.clone()];
    while let Some(key) = open.pop() {
        let thing = &before[&key];
        if !is_ours(thing) || has_trouble(thing) {
            return false;
        }
        for (other, user) in before {
            let found = &user.found;
            let uses = found.uses.contains(&key) || user.hidden.contains(&key);
            let needs = uses || found.inside.as_ref() == Some(&key);
            if needs && !user.ghost && seen.insert(other.clone()) {
                open.push(other.clone());
            }
        }
    }
    true
}

fn has_trouble(thing: &Thing) -> bool {
    let refuses = thing.refuses.is_some() || thing.found.protection.is_some();
    refuses || thing.back == u32::MAX || thing.found.key.region == "there"
}

/// Nothing inside of something protected goes, and nothing that needs such an object gone.
fn is_held(key: &Key, before: &BTreeMap<Key, Thing>) -> bool {
    let reaches = |start: &Key, links: &dyn Fn(&Thing) -> Vec<Key>| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start.clone()];
        while let Some(key) = open.pop() {
            if seen.insert(key.clone()) {
                open.extend(before.get(&key).map(links).unwrap_or_default());
            }
        }
        seen
    };
    let outer = |thing: &Thing| thing.found.inside.iter().cloned().collect();
    let locked = |key: &Key| {
        let lock = |thing: &Thing| {
            !thing.ghost
                && (thing.found.protection.is_some() || thing.refuses == Some(Class::Protected))
        };
        reaches(key, &outer)
            .iter()
            .any(|key| before.get(key).is_some_and(lock))
    };
    let users = |thing: &Thing| {
        let key = &thing.found.key;
        let needs = |user: &&Thing| {
            let found = &user.found;
            found.uses.contains(key)
                || user.hidden.contains(key)
                || found.inside.as_ref() == Some(key)
        };
        before
            .values()
            .filter(needs)
            .map(|one| one.found.key.clone())
            .collect()
    };
    reaches(key, &users).iter().any(locked)
}

/// True for a part of something protected that the first scan showed.
fn is_part(key: &Key, before: &BTreeMap<Key, Thing>) -> bool {
    let shown = |thing: &&Thing| !thing.ghost && thing.late == 0;
    let mut inner = before.get(key).filter(shown);
    while let Some(thing) = inner {
        inner = thing
            .found
            .inside
            .as_ref()
            .and_then(|key| before.get(key))
            .filter(shown);
        let locked = |one: &Thing| is_ours(one) && one.found.protection.is_some();
        if inner.is_some_and(|one| locked(one) && one.found.key.region != "there") {
            return true;
        }
    }
    false
}

fn untouched(before: &Thing, state: &State) -> bool {
    let now = state.things.get(&before.found.key);
    now.is_some_and(|now| now.found == before.found)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn zero_if_and_only_if_nothing_is_left(
        specs in prop::collection::vec(spec(), 0..18),
        throttle in prop_oneof![Just(0_u64), 4..30_u64],
        dice in any::<u64>(),
        blind in prop::bool::weighted(0.05),
    ) {
        let Run { before, ledger, state, reaped } = run(&specs, throttle, dice, blind);
        let state = state.state();
        prop_assert_eq!(&state.wrongs, &Vec::<String>::new());
        let clean = !is_left(&state, &ledger) && !blind;
        let unread = reaped.survivors.iter().any(|one| one.reason.word() == "unreadable-tags");
        prop_assert_eq!(reaped.survivors.is_empty(), clean && !unread, "{:#?}", reaped.survivors);
        for (key, thing) in &before {
            if is_ours(thing) {
                let gone = state.things.get(key).is_none_or(|one| one.ghost);
                if is_free(key, &before) && !is_held(key, &before) {
                    prop_assert!(gone, "{} is left: {:#?}", key, reaped.survivors);
                }
                if is_part(key, &before) {
                    prop_assert!(!gone, "{} went though it is part of something protected", key);
                }
                let told = reaped.survivors.iter().any(|one| one.key == *key);
                prop_assert_eq!(told, !gone, "{}", key);
            } else if thing.found.maker == Maker::Person && !thing.ghost {
                prop_assert!(untouched(thing, &state), "{} was changed", key);
            }
        }
    }
}
