//! The whole of it: look, delete, look again, until a scan after the last delete shows nothing that could
//! still go. What it shows then is what survived.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cp9_model::Scope;
use cp9_model::reaper::{Ask, Class, Key, Look, Plan, Reason, Scan, Survivor, merge};
use cp9_tools::CancellationToken;
use thiserror::Error;
use tokio::task::JoinSet;

use super::attempt::said;
use super::estate::{CallError, Estate};
use super::event::{Event, Tell};
use super::limits::Limits;
use super::progress::Progress;
use super::purge::Purge;
use crate::cloud::ProvenScope;

/// How many seconds a question is left alone that was not answered, again and again.
const PAUSES: [u64; 8] = [1, 2, 4, 8, 15, 30, 30, 30];

/// What deletes a proven scope from one account.
#[derive(Debug)]
pub struct Reaper<E> {
    estate: Arc<E>,
    scope: Scope,
    regions: BTreeSet<String>,
    ledger: BTreeSet<Key>,
    limits: Limits,
    cancel: CancellationToken,
}

/// An account as it was found, and what would become of it.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub(super) scan: Scan,
    /// Claims of which nobody can say whether they are gone.
    pub(super) unconfirmed: Vec<Survivor>,
    /// What would be done.
    pub plan: Plan,
}

/// What is left of an account, and what is not.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reaped {
    /// What was deleted.
    pub deleted: Vec<Key>,
    /// What stays for a while and counts as gone.
    pub later: Vec<String>,
    /// Regions that are closed to reading and making alike.
    pub closed: Vec<String>,
    /// What is still there, or cannot be said to be gone. Empty means that nothing is left.
    pub survivors: Vec<Survivor>,
}

/// The run was interrupted; what it would have done is in the last event that told what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("interrupted while the account was looked at or deleted from")]
pub struct Interrupted;

impl<E: Estate> Reaper<E> {
    /// For the scope that was proven, deleting in these regions, with what the session knows by its id.
    pub fn new(
        estate: E,
        proven: &ProvenScope,
        regions: BTreeSet<String>,
        ledger: BTreeSet<Key>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            estate: Arc::new(estate),
            scope: proven.scope().clone(),
            regions,
            ledger,
            limits: Limits::default(),
            cancel,
        }
    }

    /// With other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The account that it works on.
    pub fn estate(&self) -> &E {
        &self.estate
    }

    /// Looks at the account. Nothing is changed.
    pub async fn survey(&self) -> Result<Survey, Interrupted> {
        let mut nothing = Progress::default();
        self.unless_cancelled(self.look_around(&mut nothing)).await
    }

    /// Deletes what the survey shows and whatever shows after it. `changed` says whether something was
    /// deleted right before the survey: then one scan proves nothing.
    pub async fn reap(
        &self,
        survey: Survey,
        changed: bool,
        tell: Tell<'_>,
    ) -> Result<Reaped, Interrupted> {
        self.unless_cancelled(self.passes(survey, changed, tell))
            .await
    }

    /// A future that is dropped takes all its tries with it.
    async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Interrupted),
            done = work => Ok(done),
        }
    }

    async fn passes(&self, survey: Survey, changed: bool, tell: Tell<'_>) -> Reaped {
        let mut progress = Progress {
            changed,
            ..Progress::default()
        };
        let mut now = survey;
        progress.see(&now.scan, &self.scope);
        loop {
            tell(Event::Looked {
                going: now.plan.going.len(),
                staying: now.plan.survivors.len(),
            });
            tell(Event::Left(&Progress::left(&now)));
            if now.plan.going.is_empty() {
                if progress.once_more(&now, self.limits.rescans) {
                    tokio::time::sleep(self.limits.settle).await;
                } else if !self.find_ghosts(&now, &mut progress).await {
                    return progress.end(now);
                }
            } else {
                self.pass(&now, &mut progress, tell).await;
            }
            now = self.look_around(&mut progress).await;
        }
    }

    /// Deletes what a plan lets go. What is made anew for ever is given up in the end.
    async fn pass(&self, now: &Survey, progress: &mut Progress, tell: Tell<'_>) {
        progress.rounds += 1;
        if progress.rounds > self.limits.rounds {
            return progress.give_up(&now.plan);
        }
        let (pass, pause) = progress.begin(&now.plan, self.limits.pause);
        if pass > 1 {
            tell(Event::Pass { pass, pause });
            tokio::time::sleep(pause).await;
        }
        let (plan, found) = (&now.plan, &now.scan.found);
        let purge = Purge::new(&self.estate, &self.scope, self.limits, plan, found);
        let purged = Box::pin(purge.run(tell)).await;
        progress.take(purged, self.limits.passes, |key| self.is_unknown(key));
    }

    fn is_unknown(&self, key: &Key) -> bool {
        self.estate.rule(&key.kind).is_none()
    }

    /// Scans, and looks for each claim that the scan does not show.
    async fn look_around(&self, progress: &mut Progress) -> Survey {
        let ledger: BTreeSet<Key> = self.ledger.union(&progress.seen).cloned().collect();
        let claims: Vec<Key> = ledger.difference(&progress.gone).cloned().collect();
        let mut scan = self.estate.scan(&self.scope, &claims).await;
        scan.found = merge(scan.found);
        let unconfirmed = self.confirm(&mut scan, claims, progress).await;
        progress.see(&scan, &self.scope);
        let ask = Ask {
            scope: &self.scope,
            regions: &self.regions,
            ledger: &ledger,
            failed: &progress.failed,
        };
        let mut plan = Plan::of(&scan, ask, &|kind: &str| self.estate.rule(kind));
        plan.survivors.extend(unconfirmed.iter().cloned());
        Survey {
            scan,
            unconfirmed,
            plan,
        }
    }

    /// Looks for what the session claims and the scan does not show, and at what it shows although it was
    /// seen to be gone. What nobody can say anything about is neither there nor gone.
    async fn confirm(
        &self,
        scan: &mut Scan,
        claims: Vec<Key>,
        progress: &Progress,
    ) -> Vec<Survivor> {
        let listed: BTreeSet<&Key> = scan.found.iter().map(|one| &one.key).collect();
        let missing = claims.into_iter().filter(|key| !listed.contains(key));
        let ghosts = progress.gone.iter().filter(|key| listed.contains(key));
        let asked: BTreeSet<Key> = missing.chain(ghosts.cloned()).collect();
        scan.found.retain(|one| !asked.contains(&one.key));
        let mut unconfirmed = Vec::new();
        for (key, looked) in self.look_at(asked).await {
            match looked {
                Ok(Look::Gone | Look::Terminal) => {}
                Ok(Look::Alive(found)) => scan.found.push(*found),
                Err(error) if error.class == Class::Gone => {}
                Err(error) => {
                    unconfirmed.push(Survivor::of(key, Reason::Unconfirmed(said(&error))));
                }
            }
        }
        unconfirmed
    }

    /// What stays, and what keeps it, is looked at once more: what is only still listed is no survivor and
    /// keeps nothing. True if there is any.
    async fn find_ghosts(&self, now: &Survey, progress: &mut Progress) -> bool {
        let listed: BTreeSet<&Key> = now.scan.found.iter().map(|one| &one.key).collect();
        if now.plan.survivors.is_empty() {
            return false;
        }
        let told = now.plan.survivors.iter();
        let along = now.plan.along.iter().map(|(key, _)| key);
        let keys = told
            .flat_map(|one| one.blocker.iter().chain([&one.key]))
            .chain(along);
        let keys = keys.filter(|key| listed.contains(key) && !progress.gone.contains(key));
        let looked = self.look_at(keys.cloned().collect()).await.into_iter();
        let gone = looked.filter(|(_, look)| match look {
            Ok(Look::Gone | Look::Terminal) => true,
            Ok(Look::Alive(_)) => false,
            Err(error) => error.class == Class::Gone,
        });
        let before = progress.gone.len();
        progress.gone.extend(gone.map(|(key, _)| key));
        progress.gone.len() > before
    }

    async fn look_at(&self, keys: BTreeSet<Key>) -> Vec<(Key, Result<Look, CallError>)> {
        let mut waiting = keys.into_iter();
        let mut looks = JoinSet::new();
        let mut looked = Vec::new();
        loop {
            for key in waiting.by_ref().take(self.limits.at_once - looks.len()) {
                let estate = Arc::clone(&self.estate);
                looks.spawn(async move {
                    let look = patiently(&*estate, &key).await;
                    (key, look)
                });
            }
            match looks.join_next().await {
                None => return looked,
                Some(Ok(one)) => looked.push(one),
                Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
            }
        }
    }
}

/// Looks at an object, and again while an answer may still come.
async fn patiently<E: Estate>(estate: &E, key: &Key) -> Result<Look, CallError> {
    let mut pauses = PAUSES.iter();
    loop {
        let looked = estate.look(key).await;
        let may_pass = |error: &CallError| {
            matches!(error.class, Class::Retry | Class::Wait | Class::Throttled)
        };
        match (pauses.next(), &looked) {
            (Some(pause), Err(error)) if may_pass(error) => {
                tokio::time::sleep(Duration::from_secs(*pause)).await;
            }
            _ => return looked,
        }
    }
}
