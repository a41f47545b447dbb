//! What the reaper needs of a cloud account: it is asked and told, and decides nothing by itself.

use cp9_model::Scope;
use cp9_model::reaper::{Class, Found, Key, Look, Ours, Rule, Scan};
use thiserror::Error;

/// One account of a cloud. It answers and executes; what is in scope and what may go is decided elsewhere.
pub trait Estate: Send + Sync + 'static {
    /// Looks at the whole account: what carries the scope's tags in every region, confirmed by its own
    /// service and listed once; the ledgered objects, whether they carry tags or not; and what is inside
    /// of either. "Could not look" is told, never left out.
    fn scan(&self, scope: &Scope, ledger: &[Key]) -> impl Future<Output = Scan> + Send;

    /// Looks at one object anew, with its tags: right before it is deleted, and to see that it is gone.
    fn look(&self, key: &Key) -> impl Future<Output = Result<Look, CallError>> + Send;

    /// Deletes one object that was looked at a moment ago. What has to be done to it first (emptied,
    /// detached, its own rules revoked) is done here, to nothing that `ours` does not hold.
    fn delete(
        &self,
        found: &Found,
        ours: &Ours,
    ) -> impl Future<Output = Result<Deleting, CallError>> + Send;

    /// What is known about a kind; none about one that the table does not have.
    fn rule(&self, kind: &str) -> Option<Rule<'_>>;

    /// The key of the object with this ARN, where it can be told without asking.
    fn key(&self, arn: &str) -> Option<Key>;
}

/// How a delete call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deleting {
    /// It is gone.
    Done,
    /// It is on its way out; a look tells when it is gone.
    Started,
    /// It goes by itself later and counts as gone: a key in 7 days, a secret in recovery.
    Later {
        /// What stays until when, for the report.
        what: String,
    },
}

/// A call about one object that failed, after its retries.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{operation}` failed (`{code}`): {message}")]
pub struct CallError {
    /// What it means.
    pub class: Class,
    /// The word of the service, such as `DependencyViolation`.
    pub code: String,
    /// The operation as a permission names it, such as `ec2:DeleteVpc`.
    pub operation: String,
    /// What the service said, redacted.
    pub message: String,
    /// What is in the way, where the answer or another question tells.
    pub blocker: Option<Box<Key>>,
}
