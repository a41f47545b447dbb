//! What goes before what, on small estates and on random ones.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn found(kind: &str, id: &str, uses: &[(&str, &str)]) -> Found {
    let mut found = Found::new(Key::new("here", kind, id));
    let keys = uses.iter().map(|(kind, id)| Key::new("here", *kind, *id));
    found.uses = keys.collect();
    found
}

fn order(found: &[Found], table: &[(&str, &[&str])]) -> Vec<Vec<String>> {
    let after: BTreeMap<&str, Vec<String>> = table
        .iter()
        .map(|(kind, after)| (*kind, after.iter().map(|one| (*one).to_owned()).collect()))
        .collect();
    let rules = |kind: &str| {
        after.get(kind).map(|after| Rule {
            after,
            budget: Duration::ZERO,
            poll: Duration::ZERO,
            at_once: 1,
        })
    };
    let going: Vec<&Found> = found.iter().collect();
    let order = Order::of(&going, &rules);
    let waves = order.waves().into_iter();
    waves
        .map(|wave| wave.into_iter().map(|key| key.id.clone()).collect())
        .collect()
}

const NETWORK: &[(&str, &[&str])] = &[
    ("instance", &[]),
    ("subnet", &["instance"]),
    ("group", &["instance"]),
    ("vpc", &["subnet", "group"]),
];

#[test]
fn an_object_goes_before_what_it_uses_and_what_holds_it() {
    let mut subnet = found("subnet", "s", &[]);
    subnet.inside = Some(Key::new("here", "vpc", "v"));
    let estate = [
        found("vpc", "v", &[]),
        subnet,
        found("instance", "i", &[("subnet", "s"), ("group", "gone")]),
    ];
    assert_eq!(order(&estate, NETWORK), [["i"], ["s"], ["v"]]);
}

#[test]
fn where_objects_are_named_the_kinds_say_nothing() {
    let estate = [
        found("instance", "i", &[("subnet", "used")]),
        found("subnet", "used", &[]),
        found("subnet", "free", &[]),
    ];
    assert_eq!(order(&estate, NETWORK), [vec!["i", "free"], vec!["used"]]);
}

#[test]
fn kinds_wait_for_kinds_of_their_own_region_and_of_none() {
    let mut abroad = found("instance", "abroad", &[]);
    abroad.key.region = "there".into();
    let mut policy = found("policy", "p", &[]);
    policy.key.region = GLOBAL.into();
    let estate = [abroad, found("subnet", "s", &[]), policy];
    let table: &[(&str, &[&str])] = &[
        ("instance", &[]),
        ("subnet", &["instance"]),
        ("policy", &["instance", "subnet"]),
    ];
    assert_eq!(order(&estate, table), [vec!["s", "abroad"], vec!["p"]]);
}

#[test]
fn groups_that_name_each_other_wait_together_and_go_together() {
    let estate = [
        found("group", "a", &[("group", "b")]),
        found("group", "b", &[("group", "a")]),
        found("instance", "i", &[("group", "a")]),
        found("vpc", "v", &[]),
    ];
    assert_eq!(
        order(&estate, NETWORK),
        [vec!["i"], vec!["a", "b"], vec!["v"]]
    );
}

#[test]
fn kinds_that_contradict_the_objects_give_way() {
    let estate = [
        found("subnet", "s", &[("instance", "i")]),
        found("instance", "i", &[]),
    ];
    assert_eq!(order(&estate, NETWORK), [["s"], ["i"]]);
}

#[test]
fn what_nobody_knows_goes_last_unless_something_known_waits_for_it() {
    let mut part = found("mystery", "part", &[]);
    part.inside = Some(Key::new("here", "vpc", "v"));
    let estate = [
        found("vpc", "v", &[]),
        part,
        found("mystery", "lone", &[]),
        found("mystery", "user", &[("mystery", "lone")]),
    ];
    assert_eq!(
        order(&estate, NETWORK),
        [vec!["part"], vec!["v"], vec!["user"], vec!["lone"]]
    );
}

#[test]
fn an_object_that_uses_itself_waits_for_nothing() {
    assert_eq!(
        order(&[found("group", "a", &[("group", "a")])], NETWORK),
        [["a"]]
    );
}

fn estates() -> impl Strategy<Value = Vec<Found>> {
    let kinds = prop::sample::select(vec!["instance", "subnet", "group", "vpc", "mystery"]);
    let one = (
        kinds,
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    );
    prop::collection::vec(one, 1..40).prop_map(|parts| {
        let keys: Vec<Key> = parts
            .iter()
            .enumerate()
            .map(|(at, (kind, _))| Key::new("here", *kind, at.to_string()))
            .collect();
        let whole = parts.iter().zip(&keys).map(|((_, uses), key)| Found {
            uses: uses.iter().map(|at| at.get(&keys).clone()).collect(),
            ..Found::new(key.clone())
        });
        whole.collect()
    })
}

proptest! {
    /// Nothing is lost, nothing waits for ever, and outside of circles nothing goes before what uses it.
    #[test]
    fn every_estate_has_an_order(estate in estates()) {
        let waves = order(&estate, NETWORK);
        let wave: BTreeMap<&str, usize> = waves
            .iter()
            .enumerate()
            .flat_map(|(at, wave)| wave.iter().map(move |id| (id.as_str(), at)))
            .collect();
        prop_assert_eq!(wave.len(), estate.len());
        let next: Vec<Vec<usize>> = estate
            .iter()
            .map(|one| one.uses.iter().map(|key| key.id.parse().expect("a number")).collect())
            .collect();
        let circle = circles::of(&next);
        for (at, one) in estate.iter().enumerate() {
            for used in &next[at] {
                if circle[*used] != circle[at] {
                    let later = estate[*used].key.id.as_str();
                    prop_assert!(wave[one.key.id.as_str()] < wave[later]);
                }
            }
        }
    }
}
