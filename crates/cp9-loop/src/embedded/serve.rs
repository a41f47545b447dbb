//! The controller's life: lock, socket, plan, survivors, the owner of all state, the end.

use std::sync::Arc;
use std::time::Duration;

use cp9_model::control::Reply;
use cp9_model::scope::Scope;
use cp9_tools::{Doors, Environment, FileLock, LockInfo};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::adopt::Leftovers;
use super::core::{Beside, Core};
use super::message::{Message, Messages};
use super::oversight::oversee;
use super::session::{Session, SessionFolderPaths};
use super::socket::{self, Answers};
use super::watch::SourceWatcher;
use super::{adopt, environment, plan, reload};
use crate::controller::ControllerError;
use crate::logs::Indexer;

/// How long the last answers may take to be written.
const FAREWELL: Duration = Duration::from_millis(500);

/// Serves a session until `stop`, SIGTERM, SIGINT or the doors' cancellation; every child has
/// ended then. Killed, it loses nothing: the next one adopts its children.
pub async fn serve(
    doors: Doors,
    folder: SessionFolderPaths,
    scope: Scope,
    user_env: Environment,
    id: &str,
    version: &str,
) -> Result<(), ControllerError> {
    let scope = Scope {
        id: id.to_owned(),
        ..scope
    };
    let session = Session {
        builds: Arc::new(Semaphore::new(at_once())),
        build_env: environment::for_builds(&user_env),
        paths: Arc::new(folder),
        scope: Arc::new(scope),
        version: version.into(),
        doors,
    };
    let lock = lock(&session)?;
    let plan = plan::read(&session.doors, &session.paths)?;
    crate::logs::learn_secrets(&session.doors, &session.paths.folder);
    let ended = Ended::listen()?;
    let indexer = Indexer::start(&session.doors, &session.paths.folder, reload::owners(&plan))?;
    // Only a killed controller leaves its socket behind.
    let killed = session.doors.exists(&session.paths.socket);
    let listener = socket::bind(&session.paths.socket)?;
    let (survivors, leftovers) = adopt::look(&session, &plan, killed);
    let (messages, heard) = mpsc::unbounded_channel();
    let sources = SourceWatcher::start(&session.doors, messages.clone())?;
    let core = Core::new(
        session.clone(),
        plan,
        survivors,
        Beside { sources, indexer },
        messages.clone(),
    );

    clear(leftovers, &session, &messages);
    let end = CancellationToken::new();
    let tasks = TaskTracker::new();
    let answers = Answers {
        messages: messages.clone(),
        status: core.status(),
        end: end.clone(),
    };
    let accepting = tokio::spawn(socket::accept(listener, answers, tasks.clone()));
    let signals = tokio::spawn(ended.forward(session.doors.cancel.clone(), messages));
    let waiting = core.run(heard).await;

    signals.abort();
    // Nobody finds a controller any more before those who asked for its end hear of it.
    let _ = std::fs::remove_file(&session.paths.socket);
    drop(lock);
    for reply in waiting {
        let _ = reply.send(Reply::Done);
    }
    tasks.close();
    let farewell = async {
        tokio::task::yield_now().await;
        end.cancel();
        tasks.wait().await;
    };
    let _ = tokio::time::timeout(FAREWELL, farewell).await;
    accepting.abort();
    Ok(())
}

/// Ends what is left beside everything else: it may take its time, and hello is answered at once.
fn clear(leftovers: Leftovers, session: &Session, messages: &Messages) {
    let (doors, cleared) = (session.doors.clone(), messages.clone());
    let work = async move {
        leftovers.end(doors).await;
        let _ = cleared.send(Message::Cleared);
    };
    oversee(messages, work, async { Message::Cleared });
}

fn at_once() -> usize {
    std::thread::available_parallelism()
        .map_or(2, std::num::NonZero::get)
        .max(2)
}

fn lock(session: &Session) -> Result<FileLock, ControllerError> {
    let info = LockInfo {
        pid: cp9_tools::procs::own_pid(),
        command: "cp9 controller serve".into(),
        version: session.version.to_string(),
        started: session.doors.clock.now(),
    };
    FileLock::try_acquire(&session.paths.lock(), &info).map_err(|source| ControllerError::Lock {
        folder: session.paths.folder.clone(),
        source,
    })
}

/// The signals that end a controller.
struct Ended {
    term: Signal,
    int: Signal,
}

impl Ended {
    fn listen() -> Result<Self, ControllerError> {
        let on = |kind| {
            signal(kind).map_err(|source| ControllerError::System {
                what: "signal handlers",
                source,
            })
        };
        Ok(Self {
            term: on(SignalKind::terminate())?,
            int: on(SignalKind::interrupt())?,
        })
    }

    async fn forward(mut self, cancel: CancellationToken, messages: Messages) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
            () = cancel.cancelled() => {}
        }
        let _ = messages.send(Message::Shutdown);
    }
}
