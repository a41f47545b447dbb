//! Everything that the task which owns all state can hear.

use cp9_model::control::{Reply, Request};
use tokio::sync::{mpsc, oneshot};

use super::{builder, service};

/// Where replies to a client go.
pub(super) type ReplyTo = oneshot::Sender<Reply>;
/// The way to the owner of all state.
pub(super) type Messages = mpsc::UnboundedSender<Message>;

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
        /// True when it was asked for by a trigger.
        asked: bool,
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
