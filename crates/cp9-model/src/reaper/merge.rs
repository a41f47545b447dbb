//! One inventory from several listings: each object once, with all that any of them says.

use std::collections::BTreeMap;

use super::found::{Found, Life, Maker};
use super::key::Key;

/// Each object once, by its key. Where two listings differ, the one that keeps more alive wins: what one of
/// them still has alive is not gone, and what one of them protects is protected.
pub fn merge(listed: impl IntoIterator<Item = Found>) -> Vec<Found> {
    let mut by_key: BTreeMap<Key, Found> = BTreeMap::new();
    for found in listed {
        match by_key.get_mut(&found.key) {
            Some(known) => absorb(known, found),
            None => {
                by_key.insert(found.key.clone(), found);
            }
        }
    }
    by_key.into_values().collect()
}

fn absorb(known: &mut Found, other: Found) {
    known.arn = known.arn.take().or(other.arn);
    known.name = known.name.take().or(other.name);
    known.created = known.created.or(other.created);
    known.tags = agree(known.tags.take(), other.tags);
    if rank(other.life) < rank(known.life) {
        known.life = other.life;
    }
    for used in other.uses {
        if !known.uses.contains(&used) {
            known.uses.push(used);
        }
    }
    known.inside = known.inside.take().or(other.inside);
    if other.maker == Maker::Person {
        known.maker = Maker::Person;
    }
    known.protection = known.protection.take().or(other.protection);
    known.facts = known.facts.take().or(other.facts);
}

fn rank(life: Life) -> u8 {
    match life {
        Life::Alive => 0,
        Life::Ending => 1,
        Life::Terminal => 2,
    }
}

type Tags = BTreeMap<String, String>;

/// Only tags on which all that could read them agree prove anything.
fn agree(one: Option<Tags>, other: Option<Tags>) -> Option<Tags> {
    match (one, other) {
        (Some(one), Some(other)) => Some(
            one.into_iter()
                .filter(|(key, value)| other.get(key) == Some(value))
                .collect(),
        ),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tags: Option<&[(&str, &str)]>) -> Found {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Found {
            tags: tags.map(|tags| tags.iter().map(pair).collect()),
            ..Found::new(Key::new("r", "k", "i"))
        }
    }

    #[test]
    fn what_is_listed_twice_is_one_with_all_that_is_known() {
        let subnet = Key::new("r", "ec2:subnet", "s");
        let one = Found {
            life: Life::Terminal,
            uses: vec![subnet.clone()],
            maker: Maker::Default,
            ..found(None)
        };
        let other = Found {
            name: Some("n".into()),
            uses: vec![subnet.clone()],
            protection: Some("deletion protection".into()),
            ..found(Some(&[("a", "b")]))
        };
        let merged = merge([one, other]);
        assert_eq!(merged.len(), 1);
        let merged = &merged[0];
        assert_eq!(merged.life, Life::Alive);
        assert_eq!(merged.uses, [subnet]);
        assert_eq!(merged.maker, Maker::Person);
        assert!(merged.protection.is_some() && merged.name.is_some());
        assert_eq!(merged.tags.as_ref().map(BTreeMap::len), Some(1));
    }

    #[test]
    fn tags_that_two_listings_do_not_share_prove_nothing() {
        let merged = merge([
            found(Some(&[("a", "1"), ("b", "2")])),
            found(Some(&[("a", "1"), ("b", "3")])),
        ]);
        let tags = merged[0].tags.clone().expect("tags");
        assert_eq!(
            tags.into_iter().collect::<Vec<_>>(),
            [("a".into(), "1".into())]
        );
    }
}
