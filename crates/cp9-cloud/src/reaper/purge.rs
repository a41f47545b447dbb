//! One pass over a plan: every object in its turn, many at the same time, each tried until it is gone, has
//! failed for good or has had its time. Waiting holds no place: each try is short.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cp9_model::Scope;
use cp9_model::reaper::{
    Class, Failure, Found, Key, Node, Order, Ours, Plan, Reason, Rule, in_the_way,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::attempt::{Aim, Tried, attempt, said};
use super::estate::{CallError, Estate};
use super::event::{Event, Tell};
use super::limits::Limits;

/// What a pass came to.
#[derive(Debug, Default)]
pub(super) struct Purged {
    /// What is gone, confirmed by a look.
    pub(super) gone: Vec<Key>,
    /// What stays for a while and counts as gone.
    pub(super) later: Vec<String>,
    /// What could not be deleted.
    pub(super) failed: BTreeMap<Key, Failure>,
}

/// A pass in progress.
pub(super) struct Purge<'a, E> {
    estate: Arc<E>,
    scope: Scope,
    limits: Limits,
    /// Everything that was found, for naming what is in the way.
    found: &'a [Found],
    order: &'a Order,
    ours: Arc<Ours>,
    waits: Vec<usize>,
    turns: Vec<Turn>,
    /// Objects whose turn it is, by when.
    due: BTreeSet<(Instant, usize)>,
    running: BTreeMap<(String, String), usize>,
    /// How many may run now; fewer after throttling.
    allowed: usize,
    tries: JoinSet<(usize, Tried)>,
    purged: Purged,
    is_gone: BTreeSet<Key>,
}

/// Where an object stands.
#[derive(Debug, Clone)]
struct Turn {
    aim: Aim,
    /// Tries since it was last asked to go.
    looks: u32,
    refusals: u32,
    began: Option<Instant>,
    told: Option<Instant>,
    why: String,
    blocker: Option<Key>,
    throttled: bool,
    closed: bool,
}

/// So often an object is looked at after an accepted delete call before it is asked again to go.
const LOOKS: u32 = 5;
/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(30);
/// The first pause after throttling; it doubles.
const THROTTLED: Duration = Duration::from_secs(1);
/// How often people are told what is waited for.
const TELL: Duration = Duration::from_secs(15);

impl<'a, E: Estate> Purge<'a, E> {
    pub(super) fn new(
        estate: &Arc<E>,
        scope: &Scope,
        limits: Limits,
        plan: &'a Plan,
        found: &'a [Found],
    ) -> Self {
        let turn = Turn {
            aim: Aim::Delete,
            looks: 0,
            refusals: 0,
            began: None,
            told: None,
            why: String::new(),
            blocker: None,
            throttled: false,
            closed: false,
        };
        Self {
            estate: Arc::clone(estate),
            scope: scope.clone(),
            limits,
            found,
            order: &plan.order,
            ours: Arc::new(plan.ours()),
            waits: plan.order.waits(),
            turns: vec![turn; plan.order.nodes.len()],
            due: BTreeSet::new(),
            running: BTreeMap::new(),
            allowed: limits.at_once,
            tries: JoinSet::new(),
            purged: Purged::default(),
            is_gone: BTreeSet::new(),
        }
    }

    /// Everything, until nothing is left to try.
    pub(super) async fn run(mut self, tell: Tell<'_>) -> Purged {
        let free = (0..self.waits.len()).filter(|node| self.waits[*node] == 0);
        for node in free.collect::<Vec<_>>() {
            self.open(node);
        }
        loop {
            self.start();
            let next = self.due.first().map(|(at, _)| *at);
            let idle = self.tries.is_empty();
            tokio::select! {
                Some(ended) = self.tries.join_next() => match ended {
                    Ok((node, tried)) => self.take(node, tried, tell),
                    Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
                },
                () = until(next), if next.is_some_and(|at| idle || at > Instant::now()) => {}
                else => break,
            }
        }
        self.purged
    }

    fn key(&self, node: usize) -> Option<&'a Key> {
        match &self.order.nodes[node] {
            Node::Object(key) => Some(key),
            Node::Gate { .. } => None,
        }
    }

    /// A point that waits for nothing any more.
    fn open(&mut self, node: usize) {
        if self.turns[node].closed {
            return;
        }
        if self.key(node).is_some() {
            self.due.insert((Instant::now(), node));
        } else {
            self.close(node);
        }
    }

    /// A point behind which others may go.
    fn close(&mut self, node: usize) {
        self.turns[node].closed = true;
        let order = self.order;
        for next in &order.next[node] {
            self.waits[*next] -= 1;
            if self.waits[*next] == 0 {
                self.open(*next);
            }
        }
    }

    /// What needs this one gone is not tried: it would be half of something.
    fn bar(&mut self, node: usize) {
        self.turns[node].closed = true;
        let order = self.order;
        for next in &order.next[node] {
            let soft = matches!(order.nodes[*next], Node::Gate { hard: false });
            self.waits[*next] -= 1;
            if soft && self.waits[*next] == 0 {
                self.open(*next);
            } else if !soft && !self.turns[*next].closed {
                self.bar(*next);
            }
        }
    }

    /// Starts what is due, as far as there is room.
    fn start(&mut self) {
        let now = Instant::now();
        let due: Vec<_> = self.due.range(..=(now, usize::MAX)).copied().collect();
        for (at, node) in due {
            if self.tries.len() >= self.allowed {
                return;
            }
            let key = self.key(node).expect("only objects are due").clone();
            let place = (key.region.clone(), key.kind.clone());
            let most = self.rule(&key).map_or(1, |rule| rule.at_once.max(1));
            let running = self.running.entry(place).or_default();
            if *running >= most {
                continue;
            }
            *running += 1;
            self.due.remove(&(at, node));
            self.turns[node].began.get_or_insert(now);
            let (estate, ours) = (Arc::clone(&self.estate), Arc::clone(&self.ours));
            let (scope, aim) = (self.scope.clone(), self.turns[node].aim);
            self.tries.spawn(async move {
                let tried = attempt(&*estate, &key, &scope, &ours, aim).await;
                (node, tried)
            });
        }
    }

    fn rule(&self, key: &Key) -> Option<Rule<'_>> {
        self.estate.rule(&key.kind)
    }

    fn take(&mut self, node: usize, tried: Tried, tell: Tell<'_>) {
        let key = self.key(node).expect("only objects are tried");
        let place = (key.region.clone(), key.kind.clone());
        if let Some(running) = self.running.get_mut(&place) {
            *running -= 1;
        }
        if !matches!(&tried, Tried::Again(error) if error.class == Class::Throttled) {
            self.allowed = self.limits.at_once.min(self.allowed + 1);
        }
        let poll = self.rule(key).map_or(self.limits.poll, |rule| rule.poll);
        match tried {
            Tried::Gone(later) => {
                tell(Event::Gone(key));
                self.is_gone.insert(key.clone());
                self.purged.gone.push(key.clone());
                self.purged.later.extend(later);
                self.close(node);
            }
            Tried::Failed(failure) => self.fail(node, failure),
            Tried::Asked => {
                let pause = self.asked(node, poll);
                self.confirm(node, pause, tell);
            }
            Tried::Ends => {
                "its deletion is under way".clone_into(&mut self.turns[node].why);
                self.confirm(node, poll, tell);
            }
            Tried::Shows => {
                self.turns[node].looks += 1;
                if self.turns[node].looks >= LOOKS {
                    self.turns[node].aim = Aim::Delete;
                }
                self.later(node, poll, tell);
            }
            Tried::Again(error) => self.refused(node, &error, poll, tell),
        }
    }

    /// The first time it is looked at once; a service that says so again and again is asked slower.
    fn asked(&mut self, node: usize, poll: Duration) -> Duration {
        let turn = &mut self.turns[node];
        let first = turn.refusals == 0;
        turn.refusals += 1;
        if first { Duration::ZERO } else { poll }
    }

    fn confirm(&mut self, node: usize, pause: Duration, tell: Tell<'_>) {
        self.turns[node].aim = Aim::Confirm;
        self.turns[node].looks = 0;
        self.later(node, pause, tell);
    }

    fn refused(&mut self, node: usize, error: &CallError, poll: Duration, tell: Tell<'_>) {
        let throttled = error.class == Class::Throttled;
        let turn = &mut self.turns[node];
        turn.throttled = throttled;
        turn.why = said(error);
        turn.blocker = error.blocker.as_deref().cloned().or(turn.blocker.take());
        turn.refusals += 1;
        let base = if throttled { THROTTLED.max(poll) } else { poll };
        let factor = 2_u32.saturating_pow(turn.refusals.min(16) - 1);
        if throttled {
            self.allowed = (self.allowed / 2).max(1);
        }
        self.later(node, base.saturating_mul(factor).min(LONGEST), tell);
    }

    /// Tries again after a pause, unless its time is over.
    fn later(&mut self, node: usize, pause: Duration, tell: Tell<'_>) {
        let now = Instant::now();
        let key = self.key(node).expect("only objects are tried");
        let budget = self
            .rule(key)
            .map_or(self.limits.unknown, |rule| rule.budget);
        let turn = &mut self.turns[node];
        let since = now - turn.began.unwrap_or(now);
        if since >= budget {
            let failure = self.out_of_time(node, budget);
            return self.fail(node, failure);
        }
        let told = turn.told.unwrap_or(now - since);
        if now - told >= TELL {
            turn.told = Some(now);
            let why = turn.why.clone();
            let why = &why;
            tell(Event::Waits { key, since, why });
        }
        // The last try is when the time is over, not before.
        let at = (now + pause).min(now + budget.saturating_sub(since));
        self.due.insert((at, node));
    }

    fn out_of_time(&self, node: usize, budget: Duration) -> Failure {
        let key = self.key(node).expect("only objects are tried");
        let turn = &self.turns[node];
        let known = turn.blocker.clone();
        let holding = in_the_way(key, self.found, |one| self.is_gone.contains(one));
        let after = format!("not gone after {} s", budget.as_secs());
        let why = match (turn.throttled, turn.why.as_str()) {
            (true, _) => format!("{after}: too many calls"),
            (false, "") => after,
            (false, why) => format!("{after}: {why}"),
        };
        Failure {
            reason: Reason::Timeout(why),
            blocker: known.or_else(|| holding.cloned()),
        }
    }

    fn fail(&mut self, node: usize, failure: Failure) {
        let key = self.key(node).expect("only objects are tried");
        self.purged.failed.insert(key.clone(), failure);
        self.bar(node);
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
