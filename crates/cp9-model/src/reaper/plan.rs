//! What a destroy would do, before it does anything: what goes in which order and why, what goes along, and
//! what stays.

use std::collections::BTreeMap;

use super::found::Found;
use super::key::{Key, Ours};
use super::order::{Order, Rules};
use super::scan::Scan;
use super::survivor::Survivor;
use super::verdict::{Ask, Verdict, judge};
use crate::report::{PlanReport, PlanStep};
use crate::scope::{Scope, TAG_OWNER, TAG_SESSION};

/// What becomes of an account.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// What is deleted.
    pub going: Vec<Found>,
    /// In which order.
    pub order: Order,
    /// What goes along with what, without being touched.
    pub along: Vec<(Key, Key)>,
    /// What stays and is reported, and what could not be looked at.
    pub survivors: Vec<Survivor>,
}

impl Plan {
    /// The plan for an account as it was found.
    pub fn of(scan: &Scan, ask: Ask<'_>, rules: &Rules<'_>) -> Self {
        let verdicts = judge(&scan.found, ask);
        let mut plan = Self::default();
        let index: BTreeMap<&Key, &Found> = scan.found.iter().map(|one| (&one.key, one)).collect();
        for (key, verdict) in verdicts {
            let found = index[key];
            match verdict {
                Verdict::Go => plan.going.push(found.clone()),
                Verdict::Along { container } => plan.along.push((key.clone(), container)),
                Verdict::Neighbour => {}
                Verdict::Stay {
                    reason,
                    blocker,
                    inside,
                } => plan.survivors.push(Survivor {
                    blocker,
                    inside,
                    ..Survivor::new(found, reason)
                }),
            }
        }
        let unverified = scan.unverified.iter().map(Survivor::unverified);
        plan.survivors.extend(unverified);
        plan.order = Order::of(&plan.going.iter().collect::<Vec<_>>(), rules);
        plan
    }

    /// What steps before a delete may change: what is deleted anyway.
    pub fn ours(&self) -> Ours {
        self.going.iter().map(|one| one.key.clone()).collect()
    }

    /// As a report tells it.
    pub fn report(&self, cloud: &str, scope: &Scope) -> PlanReport {
        let names: BTreeMap<&Key, &Found> = self.going.iter().map(|one| (&one.key, one)).collect();
        let waves = self.order.waves().into_iter().enumerate();
        let steps = waves.flat_map(|(wave, keys)| keys.into_iter().map(move |key| (wave + 1, key)));
        PlanReport {
            deletes: steps.map(|(wave, key)| step(wave, names[key])).collect(),
            along: self.along.iter().map(|(key, _)| key.clone()).collect(),
            survivors: self
                .survivors
                .iter()
                .map(|one| one.report(cloud, scope))
                .collect(),
        }
    }
}

fn step(wave: usize, found: &Found) -> PlanStep {
    PlanStep {
        wave: u32::try_from(wave).unwrap_or(u32::MAX),
        object: found.key.clone(),
        name: found.name.clone(),
        created: found.created.map(|at| at.to_string()),
        because: format!("{TAG_OWNER} and {TAG_SESSION} are the session's"),
    }
}
