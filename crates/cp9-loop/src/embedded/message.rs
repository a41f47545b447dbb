//! Everything that the task which owns all state can hear.

use cp9_model::control::{Reply, Request};
use tokio::sync::{mpsc, oneshot};

use super::builder::Product;
use super::echo::Changed;
use super::service::Which;
use super::{builder, service};

/// Where replies to a client go.
pub(super) type ReplyTo = oneshot::Sender<Reply>;
/// The way to the owner of all state.
pub(super) type Messages = mpsc::UnboundedSender<Message>;

/// Why a digest is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Files changed.
    Seen,
    /// The controller wanted to know it as it is now.
    Renewed,
    /// A trigger asked for it.
    Asked,
}

/// Something that happened.
#[derive(Debug)]
pub(super) enum Message {
    /// A client asks.
    Client(Request, ReplyTo),
    /// The watched files of a resource have this digest now.
    Source {
        /// Which resource.
        resource: String,
        /// The digest.
        digest: String,
        /// What changed since it was told last, as far as that is known.
        changed: Changed,
        /// Why it is told.
        why: Why,
    },
    /// The product that an earlier controller left for a build of this plan entry.
    Resumed {
        /// Which build.
        resource: String,
        /// Digest of the plan entry.
        plan: String,
        /// The product, if it is intact.
        product: Option<Product>,
    },
    /// What an earlier controller left running has ended.
    Cleared,
    /// A probe of a process answered.
    Probed {
        /// Which process.
        resource: String,
        /// Its run.
        run: u64,
        /// Which way of judging it was asked by.
        judged: u64,
        /// Which probe.
        which: Which,
        /// Its answer.
        answer: Result<(), String>,
    },
    /// The watched files are watched no more: their thread has failed.
    Blind,
    /// Something that a person should know.
    Note(String),
    /// Something happened to a build.
    Build(String, builder::Event),
    /// Something happened to a process.
    Service(String, service::Event),
    /// The controller must end.
    Shutdown,
}
