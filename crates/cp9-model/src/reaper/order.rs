//! What must be gone before what: edges between objects where a description names them, edges between kinds
//! where none does, and circles opened.

mod circles;

use std::collections::{BTreeMap, BTreeSet};

use super::found::Found;
use super::key::{GLOBAL, Key};
use super::rule::Rule;

/// What the table says about a kind.
pub type Rules<'r> = dyn Fn(&str) -> Option<Rule<'r>> + 'r;

/// One point of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An object.
    Object(Key),
    /// Many objects before many others. Through a hard gate goes what needs all of them gone; a soft one
    /// only says when to try.
    Gate {
        /// True if what did not go blocks what is behind the gate.
        hard: bool,
    },
}

/// Objects and what must be gone before each. It has no circles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    /// The points: first the objects, as they were given.
    pub nodes: Vec<Node>,
    /// For each point, those that wait for it.
    pub next: Vec<Vec<usize>>,
}

impl Order {
    /// The order of objects that all go. Edges to other objects are no matter here.
    pub fn of(going: &[&Found], rules: &Rules<'_>) -> Self {
        let mut draft = Draft::new(going, rules);
        draft.by_kind();
        draft.unknown_last();
        draft.finish()
    }

    /// For each point, how many it waits for.
    pub fn waits(&self) -> Vec<usize> {
        let mut waits = vec![0; self.nodes.len()];
        for next in self.next.iter().flatten() {
            waits[*next] += 1;
        }
        waits
    }

    /// The objects in waves: each can go when those of the waves before it are gone.
    pub fn waves(&self) -> Vec<Vec<&Key>> {
        let mut waits = self.waits();
        let mut wave = vec![0; self.nodes.len()];
        let mut open: Vec<usize> = (0..waits.len()).filter(|node| waits[*node] == 0).collect();
        let mut waves: Vec<Vec<&Key>> = Vec::new();
        while let Some(node) = open.pop() {
            let mut after = wave[node];
            if let Node::Object(key) = &self.nodes[node] {
                waves.resize_with(waves.len().max(after + 1), Vec::new);
                waves[after].push(key);
                after += 1;
            }
            for next in &self.next[node] {
                wave[*next] = after.max(wave[*next]);
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    open.push(*next);
                }
            }
        }
        for wave in &mut waves {
            wave.sort_unstable();
        }
        waves
    }
}

/// An order in the making: one node for each object, then gates.
struct Draft<'a, 'r> {
    going: &'a [&'a Found],
    rules: &'a Rules<'r>,
    /// What each object must go before, by description.
    described: Vec<BTreeSet<usize>>,
    /// Each soft gate: what goes before it, and what after.
    gates: Vec<(Vec<usize>, Vec<usize>)>,
}

impl<'a, 'r> Draft<'a, 'r> {
    fn new(going: &'a [&'a Found], rules: &'a Rules<'r>) -> Self {
        let places = going.iter().enumerate();
        let index: BTreeMap<&Key, usize> = places.map(|(at, one)| (&one.key, at)).collect();
        let described = going.iter().enumerate().map(|(at, one)| {
            let needed = one.uses.iter().chain(&one.inside);
            let needed = needed.filter_map(|key| index.get(key).copied());
            needed.filter(|needed| *needed != at).collect()
        });
        Self {
            going,
            rules,
            described: described.collect(),
            gates: Vec::new(),
        }
    }

    /// Kinds of which nothing may be left before another kind goes. An object whose description names one of
    /// the other kind waits for nothing else of it.
    fn by_kind(&mut self) {
        let mut kinds: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (at, one) in self.going.iter().enumerate() {
            let kind = (one.key.kind.as_str(), one.key.region.as_str());
            kinds.entry(kind).or_default().push(at);
        }
        for ((kind, region), behind) in &kinds {
            let after = (self.rules)(kind).map_or(&[][..], |rule| rule.after);
            for first in after.iter().filter(|first| first != kind) {
                let near = |at: &&str| *at == *region || *at == GLOBAL || *region == GLOBAL;
                let same = kinds
                    .iter()
                    .filter(|((other, at), _)| other == first && near(at));
                let before: Vec<usize> = same
                    .flat_map(|(_, members)| members)
                    .filter(|one| !self.names_one(**one, kind))
                    .copied()
                    .collect();
                if !before.is_empty() {
                    self.gates.push((before, behind.clone()));
                }
            }
        }
    }

    fn names_one(&self, object: usize, kind: &str) -> bool {
        let named = self.described[object].iter();
        let mut kinds = named.map(|at| self.going[*at].key.kind.as_str());
        kinds.any(|named| named == kind)
    }

    /// What nobody knows goes last, unless something known is described to wait for it.
    fn unknown_last(&mut self) {
        let is_known = |at: &usize| (self.rules)(&self.going[*at].key.kind).is_some();
        let (known, unknown): (Vec<usize>, Vec<usize>) = (0..self.going.len()).partition(is_known);
        let leads = |from: usize| {
            let mut seen = BTreeSet::from([from]);
            let mut open = vec![from];
            while let Some(at) = open.pop() {
                if is_known(&at) {
                    return true;
                }
                open.extend(self.described[at].iter().filter(|next| seen.insert(**next)));
            }
            false
        };
        let last: Vec<usize> = unknown.into_iter().filter(|at| !leads(*at)).collect();
        if !(known.is_empty() || last.is_empty()) {
            self.gates.push((known, last));
        }
    }

    /// Circles by description are opened: their members wait together for what is outside, and then go
    /// together, each giving up first what ties it to the others. Edges between kinds that lie in a circle
    /// are wrong about these objects and are left out.
    fn finish(self) -> Order {
        let objects = self.going.len();
        let mut all: Vec<Vec<usize>> = self.described.iter().map(to_vec).collect();
        all.resize_with(objects + self.gates.len(), Vec::new);
        for (gate, (before, behind)) in self.gates.iter().enumerate() {
            for at in before {
                all[*at].push(objects + gate);
            }
            all[objects + gate].clone_from(behind);
        }
        let wide = circles::of(&all);
        let described: Vec<Vec<usize>> = self.described.iter().map(to_vec).collect();
        let narrow = circles::of(&described);
        let mut order = Order::default();
        for one in self.going {
            order.add(Node::Object(one.key.clone()));
        }
        let doors = order.doors(&narrow);
        for (at, next) in described.iter().enumerate() {
            let apart = next.iter().filter(|next| narrow[**next] != narrow[at]);
            apart.for_each(|next| order.edge(at, doors[*next]));
        }
        for (gate, (before, behind)) in self.gates.iter().enumerate() {
            let point = order.add(Node::Gate { hard: false });
            let apart = |at: &&usize| wide[**at] != wide[objects + gate];
            before
                .iter()
                .filter(apart)
                .for_each(|at| order.edge(*at, point));
            behind
                .iter()
                .filter(apart)
                .for_each(|at| order.edge(point, doors[*at]));
        }
        for next in &mut order.next {
            next.sort_unstable();
            next.dedup();
        }
        order
    }
}

impl Order {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.next.push(Vec::new());
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.next[from].push(to);
    }

    /// Where each object is waited at: itself, or the one gate before the circle that it is in.
    fn doors(&mut self, circles: &[usize]) -> Vec<usize> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, circle) in circles.iter().enumerate() {
            members.entry(*circle).or_default().push(at);
        }
        let mut doors: Vec<usize> = (0..circles.len()).collect();
        for members in members.values().filter(|members| members.len() > 1) {
            let gate = self.add(Node::Gate { hard: true });
            for member in members {
                self.edge(gate, *member);
                doors[*member] = gate;
            }
        }
        doors
    }
}

fn to_vec(set: &BTreeSet<usize>) -> Vec<usize> {
    set.iter().copied().collect()
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod order_tests;
