//! The private socket: one JSON request a line, answered by one reply a line; `watch` by many. The owner of
//! all state answers all but `watch` and `credentials`.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use cp9_model::control::{ControllerStatus, Reply, Request};
use cp9_tools::Doors;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::lend::{self, LoanQuestions};
use super::message::{Message, Messages};
use crate::controller::ControllerError;

/// Longest request.
const LONGEST: u64 = 64 * 1024;

/// Binds the socket; only the holder of the controller's lock may, so a file in the way is stale.
pub(super) fn bind(doors: &Doors, socket: &Utf8Path) -> Result<UnixListener, ControllerError> {
    let failed = |source| ControllerError::Listen {
        socket: socket.to_owned(),
        source,
    };
    doors.remove_file(socket)?;
    let listener = UnixListener::bind(socket).map_err(failed)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// What answers clients.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    pub(super) messages: Messages,
    pub(super) status: watch::Receiver<ControllerStatus>,
    /// Who has credentials to give.
    pub(super) lender: LoanQuestions,
    pub(super) end: CancellationToken,
}

/// Accepts clients until the end.
pub(super) async fn accept(listener: UnixListener, answers: Answers, tasks: TaskTracker) {
    loop {
        tokio::select! {
            () = answers.end.cancelled() => return,
            client = listener.accept() => match client {
                Ok((stream, _)) => {
                    tasks.spawn(serve(stream, answers.clone()));
                }
                // Out of descriptors for a moment: clients wait in the queue meanwhile.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            },
        }
    }
}

async fn serve(stream: UnixStream, mut answers: Answers) {
    let (read, mut write) = stream.into_split();
    let mut reader = BufReader::new(read);
    loop {
        let mut line = String::new();
        let mut limited = (&mut reader).take(LONGEST);
        let request = tokio::select! {
            count = limited.read_line(&mut line) => match count {
                Ok(1..) => serde_json::from_str::<Request>(&line),
                _ => return,
            },
            () = answers.end.cancelled() => return,
        };
        let reply = match request {
            Ok(Request::Watch) => return follow(&mut write, &mut answers, &mut reader).await,
            Ok(Request::Credentials) => tokio::select! {
                reply = lend::ask(&answers.lender) => reply,
                () = answers.end.cancelled() => return,
            },
            Ok(request) => ask(&answers.messages, request).await,
            Err(error) => Reply::Error {
                message: format!("cannot read the request: {error}"),
            },
        };
        if send(&mut write, &reply).await.is_err() {
            return;
        }
    }
}

async fn ask(messages: &Messages, request: Request) -> Reply {
    let (reply_tx, reply_rx) = oneshot::channel();
    let ending = || Reply::Error {
        message: "the controller is stopping".into(),
    };
    if messages.send(Message::Client(request, reply_tx)).is_err() {
        return ending();
    }
    reply_rx.await.unwrap_or_else(|_| ending())
}

/// Sends the status now and after every change, until either side ends.
async fn follow<R: tokio::io::AsyncRead + Unpin>(
    write: &mut OwnedWriteHalf,
    answers: &mut Answers,
    read: &mut R,
) {
    let mut hung_up = [0];
    loop {
        let status = answers.status.borrow_and_update().clone();
        if send(write, &Reply::Status(status)).await.is_err() {
            return;
        }
        tokio::select! {
            changed = answers.status.changed() => if changed.is_err() { return },
            _ = read.read(&mut hung_up) => return,
            () = answers.end.cancelled() => return,
        }
    }
}

async fn send(write: &mut OwnedWriteHalf, reply: &Reply) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(reply).map_err(std::io::Error::other)?;
    line.push(b'\n');
    write.write_all(&line).await
}
