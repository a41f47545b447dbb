//! `needs`: every name is known, and nothing waits for itself in a circle.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::names::KINDS;
use crate::config::check::{Check, child, list};
use crate::diagnostic::Code;

pub(super) fn check(check: &mut Check<'_>) {
    let known: BTreeSet<_> = KINDS
        .iter()
        .flat_map(|kind| check.keys(&format!("/services/{kind}")))
        .collect();
    let mut graph: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
    for kind in ["source", "live"] {
        let block = format!("/services/{kind}");
        for service in check.keys(&block) {
            let pointer = child(&child(&block, service), "needs");
            let needs = check
                .json
                .pointer(&pointer)
                .and_then(Value::as_array)
                .map(Vec::as_slice)
                .unwrap_or_default();
            for (at, need) in needs.iter().enumerate() {
                let Some(need) = need.as_str() else { continue };
                let here = format!("{pointer}/{at}");
                if known.contains(need) {
                    graph.entry(service).or_default().push((need, here));
                } else {
                    unknown(check, &here, need, &known);
                }
            }
        }
    }
    if let Some((circle, pointer)) = circle(&graph) {
        let shown = circle
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(" needs ");
        let found = check.value(
            Code::CYCLE,
            &pointer,
            format!("services wait for each other: {shown}"),
        );
        check.add(
            found.help("remove one of these `needs`; endpoints that are only called need none"),
        );
    }
}

/// Adds that a named service is not in the file.
pub(super) fn unknown(check: &mut Check<'_>, pointer: &str, name: &str, known: &BTreeSet<&str>) {
    let found = check.value(
        Code::UNKNOWN_SERVICE,
        pointer,
        format!("no service `{name}` in this file"),
    );
    let found = match check.near(name, known.iter().copied()) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => found.help("declare it below `services`"),
        None => found.help(format!("known here: {}", list(known.iter().take(20)))),
    };
    check.add(found);
}

/// A circle, its first service repeated at its end, and the pointer of the need that closes it.
fn circle<'n>(graph: &BTreeMap<&'n str, Vec<(&'n str, String)>>) -> Option<(Vec<&'n str>, String)> {
    let start = *remaining(graph).first()?;
    let rest = remaining(graph);
    // Every remaining service needs another remaining one, so walking on must come back.
    let mut walk: Vec<(&str, String)> = vec![(start, String::new())];
    loop {
        let (here, _) = walk.last()?;
        let (next, pointer) = graph
            .get(here)?
            .iter()
            .find(|(need, _)| rest.contains(need))?
            .clone();
        if let Some(at) = walk.iter().position(|(name, _)| *name == next) {
            let mut names: Vec<_> = walk[at..].iter().map(|(name, _)| *name).collect();
            names.push(next);
            return Some((names, pointer));
        }
        walk.push((next, pointer));
    }
}

/// The services that are left when those without open needs are taken away again and again.
fn remaining<'n>(graph: &BTreeMap<&'n str, Vec<(&'n str, String)>>) -> BTreeSet<&'n str> {
    let mut open: BTreeMap<&str, usize> = graph
        .iter()
        .map(|(name, needs)| (*name, needs.len()))
        .collect();
    let mut needed_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, needs) in graph {
        for (need, _) in needs {
            needed_by.entry(need).or_default().push(name);
        }
    }
    let mut ready: Vec<&str> = needed_by
        .keys()
        .copied()
        .filter(|name| !graph.contains_key(name))
        .collect();
    while let Some(done) = ready.pop() {
        for name in needed_by.get(done).map(Vec::as_slice).unwrap_or_default() {
            let left = open.entry(name).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                ready.push(name);
            }
        }
    }
    open.into_iter()
        .filter(|(_, left)| *left > 0)
        .map(|(name, _)| name)
        .collect()
}
