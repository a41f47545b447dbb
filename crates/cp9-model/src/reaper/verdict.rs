//! What becomes of each found object: it goes, it goes along with its container, it stays and is reported, or
//! it is no business of the scope.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{Found, Life, Maker};
use super::key::{GLOBAL, Key};
use super::standing::Standing;
use super::survivor::{Failure, Reason};
use crate::scope::Scope;

/// What is asked of an inventory.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The scope.
    pub scope: &'a Scope,
    /// The regions that the session names. Only there anything is deleted; what has no region is in scope.
    pub regions: &'a BTreeSet<String>,
    /// The objects that the session knows by their id.
    pub ledger: &'a BTreeSet<Key>,
    /// What could not be deleted in this run, and why.
    pub failed: &'a BTreeMap<Key, Failure>,
}

/// What becomes of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is the scope's and is deleted.
    Go,
    /// The cloud made it for its container, and it goes with it only.
    Along {
        /// The object of the scope that it is inside of.
        container: Key,
    },
    /// It stays, and is reported.
    Stay {
        /// Why.
        reason: Reason,
        /// The very object that is in the way.
        blocker: Option<Key>,
        /// The object of the scope that it is inside of.
        inside: Option<Key>,
    },
    /// Not the scope's. It is never touched, and what it uses stays.
    Neighbour,
}

impl Verdict {
    fn stay(reason: Reason) -> Self {
        Self::Stay {
            reason,
            blocker: None,
            inside: None,
        }
    }

    fn stays_for(reason: Reason, blocker: &Key) -> Self {
        Self::Stay {
            reason,
            blocker: Some(blocker.clone()),
            inside: None,
        }
    }
}

/// The verdict on everything that is there; what is terminal is not.
pub fn judge<'a>(found: &'a [Found], ask: Ask<'_>) -> BTreeMap<&'a Key, Verdict> {
    let alive = found.iter().filter(|one| one.life != Life::Terminal);
    let index: Index<'a> = alive.map(|one| (&one.key, one)).collect();
    let each = index
        .values()
        .map(|one| (&one.key, alone(one, &index, ask)));
    let mut verdicts = each.collect();
    hold_parts(&index, &mut verdicts);
    block(&index, &mut verdicts);
    verdicts
}

type Index<'a> = BTreeMap<&'a Key, &'a Found>;

/// An object judged without regard to what uses it.
fn alone(one: &Found, index: &Index<'_>, ask: Ask<'_>) -> Verdict {
    let standing = one.standing(ask.scope);
    if standing == Standing::Ours {
        return ours(one, ask);
    }
    let container = container(one, index, ask.scope);
    let known = ask.ledger.contains(&one.key);
    let by_itself = one.maker != Maker::Person && standing != Standing::Others;
    if let (true, Some(container)) = (by_itself, &container) {
        let container = container.clone();
        return Verdict::Along { container };
    }
    let reason = match standing {
        Standing::Others if known => Reason::OtherScope,
        Standing::Unreadable => Reason::UnreadableTags,
        Standing::Untagged if known || container.is_some() => Reason::Untagged,
        _ => return Verdict::Neighbour,
    };
    Verdict::Stay {
        reason,
        blocker: None,
        inside: container,
    }
}

fn ours(one: &Found, ask: Ask<'_>) -> Verdict {
    let region = &one.key.region;
    if region != GLOBAL && !ask.regions.contains(region) {
        return Verdict::stay(Reason::UndeclaredRegion);
    }
    if let Some(failure) = ask.failed.get(&one.key) {
        return Verdict::Stay {
            reason: failure.reason.clone(),
            blocker: failure.blocker.clone(),
            inside: None,
        };
    }
    match &one.protection {
        Some(by) if one.life == Life::Alive => Verdict::stay(Reason::Protected(by.clone())),
        _ => Verdict::Go,
    }
}

/// The outermost object of the scope that holds this one, through whatever lies between.
fn container(one: &Found, index: &Index<'_>, scope: &Scope) -> Option<Key> {
    let ours = around(one, index).filter(|outer| outer.standing(scope) == Standing::Ours);
    ours.last().map(|outer| outer.key.clone())
}

/// What holds an object, from the inside out.
fn around<'a, 'i>(
    one: &Found,
    index: &'i Index<'a>,
) -> impl Iterator<Item = &'a Found> + use<'a, 'i> {
    let mut seen = BTreeSet::from([one.key.clone()]);
    let mut next = one.inside.clone();
    std::iter::from_fn(move || {
        let key = next.take().filter(|key| seen.insert(key.clone()))?;
        let outer = *index.get(&key)?;
        next.clone_from(&outer.inside);
        Some(outer)
    })
}

/// Of what is protected nothing else is deleted either: it would be half of it that is left.
fn hold_parts<'a>(index: &Index<'a>, verdicts: &mut BTreeMap<&'a Key, Verdict>) {
    let protected: BTreeSet<&Key> = verdicts
        .iter()
        .filter(|(_, verdict)| is_protected(verdict))
        .map(|(key, _)| *key)
        .collect();
    for (key, verdict) in verdicts {
        if *verdict != Verdict::Go {
            continue;
        }
        let mut outer = around(index[*key], index);
        if let Some(outer) = outer.find(|outer| protected.contains(&outer.key)) {
            *verdict = Verdict::stays_for(Reason::ProtectedContainer, &outer.key);
        }
    }
}

fn is_protected(verdict: &Verdict) -> bool {
    let Verdict::Stay { reason, .. } = verdict else {
        return false;
    };
    matches!(reason, Reason::Protected(_))
}

/// What is in the way of an object: what still exists and uses it or is inside of it. What came with a
/// container comes last, as it goes with it.
pub fn in_the_way<'a>(
    key: &Key,
    found: &'a [Found],
    is_gone: impl Fn(&Key) -> bool,
) -> Option<&'a Key> {
    let needs = |one: &&Found| one.uses.contains(key) || one.inside.as_ref() == Some(key);
    let there = |one: &&Found| one.life != Life::Terminal && one.key != *key && !is_gone(&one.key);
    let holding = found.iter().filter(needs).filter(there);
    let first = holding.min_by_key(|one| one.maker == Maker::Default);
    first.map(|one| &one.key)
}

/// What something that stays uses, or is inside of, stays too, named with what is at the root of it.
fn block<'a>(index: &Index<'a>, verdicts: &mut BTreeMap<&'a Key, Verdict>) {
    let stays = |verdict: &Verdict| matches!(verdict, Verdict::Stay { .. } | Verdict::Neighbour);
    let staying = verdicts.iter().filter(|(_, verdict)| stays(verdict));
    let mut open: Vec<(&Key, Key)> = staying
        .map(|(key, verdict)| (*key, root(key, verdict)))
        .collect();
    let mut passed = BTreeSet::new();
    while let Some((key, root)) = open.pop() {
        let one = index[key];
        let along = matches!(verdicts[key], Verdict::Along { .. });
        let used = one.uses.iter().filter(|_| !along);
        for needed in used.chain(&one.inside) {
            let Some((needed, _)) = index.get_key_value(needed) else {
                continue;
            };
            match verdicts[needed] {
                Verdict::Go => {
                    let verdict = Verdict::stays_for(Reason::Dependency, &root);
                    verdicts.insert(needed, verdict);
                }
                Verdict::Along { .. } if passed.insert(*needed) => {}
                _ => continue,
            }
            open.push((needed, root.clone()));
        }
    }
}

fn root(key: &Key, verdict: &Verdict) -> Key {
    match verdict {
        Verdict::Stay {
            blocker: Some(root),
            ..
        } => root.clone(),
        _ => key.clone(),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod verdict_tests;
