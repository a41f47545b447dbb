//! The account in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cp9_model::reaper::{
    Class, Found, Key, Life, Look, Maker, Ours, Rule, Scan, Standing, Unverified,
};
use cp9_model::{Owner, Scope};

use super::super::{CallError, Deleting, Estate};

/// An object, and how it behaves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thing {
    pub(super) found: Found,
    /// What it uses and no description tells.
    pub(super) hidden: Vec<Key>,
    /// So many looks show it ending before it is gone.
    pub(super) slow: u32,
    /// So often it is made again when it is gone.
    pub(super) back: u32,
    /// So many scans do not list it.
    pub(super) late: u32,
    /// A scan has listed it.
    pub(super) listed: bool,
    /// It is gone and goes on being listed.
    pub(super) ghost: bool,
    /// The error of its delete call.
    pub(super) refuses: Option<Class>,
}

impl Thing {
    pub(super) fn new(found: Found) -> Self {
        Self {
            found,
            hidden: Vec::new(),
            slow: 0,
            back: 0,
            late: 0,
            listed: false,
            ghost: false,
            refuses: None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) things: BTreeMap<Key, Thing>,
    pub(super) unverified: Vec<Unverified>,
    /// What no reaper may do.
    pub(super) wrongs: Vec<String>,
    /// Every delete call, in order.
    pub(super) calls: Vec<Key>,
    pub(super) scans: u32,
    pub(super) looks: u32,
    /// Calls under way now, and the most that there were.
    now: u32,
    pub(super) most: u32,
    /// What nobody may look at.
    pub(super) blind: BTreeSet<Key>,
    /// One call of so many is throttled; none with 0.
    pub(super) throttle: u64,
    pub(super) dice: u64,
}

/// The account; clones are the same one.
#[derive(Debug, Clone, Default)]
pub(super) struct Account(Arc<Mutex<State>>);

pub(super) const HOURS: Duration = Duration::from_hours(6);
/// What the table knows: security groups may name each other, a net goes after its parts.
pub(super) const KINDS: [&str; 4] = ["machine", "part", "group", "net"];

pub(super) fn scope() -> Scope {
    Scope {
        owner: Owner::new("ann@example.com"),
        session: "shop".parse().expect("a name"),
        id: "1".into(),
    }
}

impl Account {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0
            .lock()
            .expect("no test panics while it holds the account")
    }

    pub(super) fn with(things: impl IntoIterator<Item = Thing>) -> Self {
        let account = Self::default();
        let by_key = things.into_iter().map(|one| (one.found.key.clone(), one));
        account.state().things = by_key.collect();
        account
    }
}

impl State {
    fn enter(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }

    fn throttled(&mut self) -> Result<(), CallError> {
        if self.throttle == 0 {
            return Ok(());
        }
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        if self.dice.is_multiple_of(self.throttle) {
            return Err(error(Class::Throttled, "Throttling", None));
        }
        Ok(())
    }

    /// What goes with an object: the cloud's own that are inside of it, and what is inside of those.
    pub(super) fn along(&self, key: &Key) -> BTreeSet<Key> {
        let mut all = BTreeSet::new();
        let mut open = vec![key.clone()];
        while let Some(outer) = open.pop() {
            for (key, thing) in &self.things {
                let inner = thing.found.inside.as_ref() == Some(&outer);
                let standing = thing.found.standing(&scope());
                let nobodys = matches!(standing, Standing::Untagged | Standing::Unreadable);
                let clouds = nobodys && thing.found.maker != Maker::Person;
                if inner && clouds && all.insert(key.clone()) {
                    open.push(key.clone());
                }
            }
        }
        all
    }

    /// What is in the way of a delete.
    pub(super) fn in_the_way(&self, key: &Key) -> Option<Key> {
        let along = self.along(key);
        let going: BTreeSet<&Key> = along.iter().chain([key]).collect();
        let needs = |thing: &Thing, one: &Key| {
            let inside = thing.found.inside.as_ref() == Some(one);
            inside || thing.found.uses.contains(one) || thing.hidden.contains(one)
        };
        let there = self.things.iter().filter(|(_, thing)| !thing.ghost);
        let mut others = there.filter(|(other, _)| !going.contains(other));
        let held = others.find(|(_, thing)| going.iter().any(|one| needs(thing, one)));
        held.map(|(other, _)| other.clone())
    }

    fn delete(&mut self, key: &Key, ours: &Ours) -> Result<Deleting, CallError> {
        self.throttled()?;
        self.calls.push(key.clone());
        let Some(thing) = self.things.get(key).filter(|one| !one.ghost) else {
            return Err(error(Class::Gone, "NotFound", None));
        };
        if let Some(wrong) = self.wrong(thing, ours) {
            self.wrongs.push(wrong);
        }
        let refuses = thing.refuses;
        if let Some(class) = refuses {
            return Err(error(class, "Refused", None));
        }
        if key.kind == "group" {
            let thing = self.things.get_mut(key).expect("it was found");
            thing.found.uses.retain(|used| used.kind != "group");
        }
        if let Some(blocker) = self.in_the_way(key) {
            return Err(error(Class::Retry, "DependencyViolation", Some(blocker)));
        }
        let thing = self.things.get_mut(key).expect("it was found");
        thing.found.life = Life::Ending;
        if thing.slow > 0 {
            return Ok(Deleting::Started);
        }
        self.end(key);
        Ok(Deleting::Done)
    }

    fn wrong(&self, thing: &Thing, ours: &Ours) -> Option<String> {
        let found = &thing.found;
        let region = &found.key.region;
        let foreign = |one: &&Thing| {
            let untagged = one.found.standing(&scope()) != Standing::Ours;
            untagged && one.found.maker == Maker::Person
        };
        let inner = |one: &&Thing| one.found.inside.as_ref() == Some(&found.key);
        let known = |one: &Thing| one.listed && !one.ghost;
        let mut others = self.things.values().filter(inner).filter(foreign);
        let what = if found.standing(&scope()) != Standing::Ours {
            "it is not the scope's"
        } else if region == "there" {
            "its region is not declared"
        } else if found.protection.is_some() && found.life == Life::Alive {
            "it is protected"
        } else if !ours.holds(&found.key) {
            "it is not among what may be changed"
        } else if others.any(known) {
            "somebody's object is inside"
        } else {
            return None;
        };
        Some(format!("{}: {what}", found.key))
    }

    fn end(&mut self, key: &Key) {
        for along in self.along(key) {
            self.things.remove(&along);
        }
        let thing = self.things.get_mut(key).expect("only what is there ends");
        if thing.back > 0 {
            thing.back -= 1;
            thing.found.life = Life::Alive;
            // Made again, but not before somebody has seen that it was gone.
            thing.late = 1;
            thing.ghost = true;
        } else if !thing.ghost {
            self.things.remove(key);
        }
    }

    fn look(&mut self, key: &Key) -> Result<Look, CallError> {
        self.throttled()?;
        self.looks += 1;
        if self.blind.contains(key) {
            return Err(error(Class::Denied, "AccessDenied", None));
        }
        let Some(thing) = self.things.get_mut(key) else {
            return Ok(Look::Gone);
        };
        if thing.ghost {
            return Ok(Look::Terminal);
        }
        if thing.found.life == Life::Ending {
            thing.slow = thing.slow.saturating_sub(1);
            if thing.slow == 0 {
                self.end(key);
                return Ok(Look::Gone);
            }
        }
        let found = self.things[key].found.clone();
        Ok(Look::Alive(Box::new(found)))
    }

    fn scan(&mut self) -> Scan {
        self.scans += 1;
        let mut found = Vec::new();
        for thing in self.things.values_mut() {
            if thing.late > 0 {
                thing.late -= 1;
                if thing.late == 0 {
                    thing.ghost = false;
                }
            } else {
                thing.listed = true;
                found.push(thing.found.clone());
            }
        }
        Scan {
            found,
            unverified: self.unverified.clone(),
            closed: Vec::new(),
        }
    }
}

fn error(class: Class, code: &str, blocker: Option<Key>) -> CallError {
    CallError {
        class,
        code: code.into(),
        operation: "cloud:Delete".into(),
        message: String::new(),
        blocker: blocker.map(Box::new),
    }
}

impl Estate for Account {
    async fn scan(&self, _: &Scope, _: &[Key]) -> Scan {
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.state().scan()
    }

    async fn look(&self, key: &Key) -> Result<Look, CallError> {
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.state().look(key)
    }

    async fn delete(&self, found: &Found, ours: &Ours) -> Result<Deleting, CallError> {
        self.state().enter();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut state = self.state();
        state.now -= 1;
        state.delete(&found.key, ours)
    }

    fn rule(&self, kind: &str) -> Option<Rule<'_>> {
        KINDS.contains(&kind).then_some(Rule {
            after: &[],
            budget: HOURS,
            poll: Duration::from_secs(2),
            at_once: 3,
        })
    }

    fn key(&self, _: &str) -> Option<Key> {
        None
    }
}
