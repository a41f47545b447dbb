//! What a run has come to between two looks at the account: what was seen, what is gone, what has failed, and
//! whether there is any use in going on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cp9_model::Scope;
use cp9_model::reaper::{Failure, Key, Life, Plan, Reason, Scan, Standing, Survivor, Why};

use super::purge::Purged;
use super::reap::{Reaped, Survey};

/// What a run has come to so far.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Everything that was ever found to be the scope's in this run.
    pub(super) seen: BTreeSet<Key>,
    /// What was seen to be gone, and was not found again.
    pub(super) gone: BTreeSet<Key>,
    pub(super) deleted: BTreeSet<Key>,
    pub(super) later: Vec<String>,
    pub(super) failed: BTreeMap<Key, Failure>,
    /// How often each object was taken up.
    pub(super) taken: BTreeMap<Key, u32>,
    /// True when something was deleted since the last scan but one.
    pub(super) changed: bool,
    pub(super) rescans: u32,
    pub(super) rounds: u32,
}

impl Progress {
    /// Takes in what a scan shows. What failed for something that only now shows has all its tries again.
    pub(super) fn see(&mut self, scan: &Scan, scope: &Scope) {
        let mut new = BTreeSet::new();
        for one in scan.found.iter().filter(|one| one.life != Life::Terminal) {
            self.gone.remove(&one.key);
            let ours = one.standing(scope) == Standing::Ours;
            if ours && self.seen.insert(one.key.clone()) {
                new.insert(one.key.clone());
            }
        }
        self.free(&new);
    }

    /// What would be left if the run ended here.
    pub(super) fn left(survey: &Survey) -> Vec<Survivor> {
        let going = survey.plan.going.iter();
        let pending = going.map(|one| Survivor::new(one, Reason::Pending));
        pending
            .chain(survey.plan.survivors.iter().cloned())
            .collect()
    }

    /// Whether an account in which nothing can go any more must be looked at once more.
    pub(super) fn once_more(&mut self, survey: &Survey, most: u32) -> bool {
        if std::mem::take(&mut self.changed) {
            return true;
        }
        let passes = |why: Why| why != Why::Denied;
        let may_pass = survey.scan.unverified.iter().any(|one| passes(one.why))
            || !survey.unconfirmed.is_empty();
        self.rescans += 1;
        may_pass && self.rescans <= most
    }

    /// Counts a pass; which one it is for what was taken up most often, and how long to wait before it.
    pub(super) fn begin(&mut self, plan: &Plan, pause: Duration) -> (u32, Duration) {
        let mut least = u32::MAX;
        for one in &plan.going {
            let taken = self.taken.entry(one.key.clone()).or_default();
            *taken += 1;
            least = least.min(*taken);
        }
        let doubled = 2_u32.saturating_pow(least.saturating_sub(2).min(16));
        (least, pause.saturating_mul(doubled))
    }

    /// Takes in a pass. An unknown kind has more than one try; what comes back again and again has failed.
    pub(super) fn take(&mut self, purged: Purged, most: u32, is_unknown: impl Fn(&Key) -> bool) {
        self.changed |= !purged.gone.is_empty();
        self.later.extend(purged.later);
        let taken = |key: &Key| self.taken.get(key).copied().unwrap_or_default();
        for (key, failure) in purged.failed {
            let failure = if is_unknown(&key) {
                let may_pass = matches!(failure.reason, Reason::Refused(_) | Reason::Timeout(_));
                if may_pass && taken(&key) < most {
                    continue;
                }
                unknown(failure)
            } else {
                failure
            };
            self.failed.insert(key, failure);
        }
        let gone: BTreeSet<Key> = purged.gone.into_iter().collect();
        for key in gone.iter().filter(|key| taken(key) >= most) {
            self.failed.insert(key.clone(), Reason::ComesBack.into());
        }
        // What was in the way is gone: what failed for it has all its tries again.
        self.free(&gone);
        self.deleted.extend(gone.iter().cloned());
        self.gone.extend(gone);
    }

    fn free(&mut self, blockers: &BTreeSet<Key>) {
        let freed = |failure: &Failure| failure.blocker.iter().any(|key| blockers.contains(key));
        let failed = self.failed.extract_if(.., |_, failure| freed(failure));
        for (key, _) in failed {
            self.taken.remove(&key);
        }
    }

    pub(super) fn give_up(&mut self, plan: &Plan) {
        for one in &plan.going {
            self.failed
                .insert(one.key.clone(), Reason::ComesBack.into());
        }
    }

    pub(super) fn end(self, survey: Survey) -> Reaped {
        let survivors = survey.plan.survivors;
        let left: BTreeSet<&Key> = survivors.iter().map(|one| &one.key).collect();
        let deleted = self.deleted.iter().filter(|key| !left.contains(key));
        Reaped {
            deleted: deleted.cloned().collect(),
            later: self.later,
            closed: survey.scan.closed,
            survivors,
        }
    }
}

fn unknown(failure: Failure) -> Failure {
    let reason = match failure.reason {
        Reason::Refused(why) | Reason::Timeout(why) => Reason::UnknownType(why),
        reason => reason,
    };
    Failure { reason, ..failure }
}
