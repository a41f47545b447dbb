//! The controller's life: lock, socket, plan, survivors, the owner of all state, the end.

use std::sync::Arc;
use std::time::Duration;

use cp9_model::control::Reply;
use cp9_model::devplan::DevPlan;
use cp9_model::scope::Scope;
use cp9_tools::{Doors, FileLock, LockError, LockInfo, procs};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::adopt::Leftovers;
use super::core::{Beside, Core};
use super::lend::LoanQuestions;
use super::message::{Message, Messages};
use super::oversight::oversee;
use super::session::{Session, SessionFolderPaths};
use super::socket::{self, Answers};
use super::watch::SourceWatcher;
use super::{adopt, environment, plan, reload};
use crate::controller::ControllerError;
use crate::logs::Indexer;

/// How long the lock of a killed controller may outlive it.
const DYING: Duration = Duration::from_secs(3);
/// How long the last answers may take to be written.
const FAREWELL: Duration = Duration::from_millis(500);

/// Serves a session until `stop`, SIGTERM, SIGINT, SIGHUP or the doors' cancellation; every child has
/// ended then. Killed, it loses nothing: the next one adopts its children. `lender` answers
/// processes that ask for credentials.
pub async fn serve(
    doors: Doors,
    folder: SessionFolderPaths,
    scope: Scope,
    version: &str,
    lender: LoanQuestions,
) -> Result<(), ControllerError> {
    let session = Session {
        builds: Arc::new(Semaphore::new(at_once())),
        build_env: environment::for_builds(&doors.env),
        paths: Arc::new(folder),
        scope: Arc::new(scope),
        version: version.into(),
        doors,
    };
    let lock = lock(&session).await?;
    let plan = plan::read(&session.doors, &session.paths)?;
    crate::secrets::learn(&session.doors, &session.paths.folder);
    let ended = Ended::listen()?;
    let (messages, heard) = mpsc::unbounded_channel();
    let indexer = index(&session, &plan, messages.clone())?;
    // Only a killed controller leaves its socket behind.
    let killed = session.doors.exists(&session.paths.socket);
    let listener = socket::bind(&session.doors, &session.paths.socket)?;
    let (survivors, leftovers) = adopt::look(&session, &plan, killed);
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
        lender,
        end: end.clone(),
    };
    let accepting = tokio::spawn(socket::accept(listener, answers, tasks.clone()));
    let signals = tokio::spawn(ended.forward(session.doors.cancel.clone(), messages));
    let waiting = core.run(heard).await;

    signals.abort();
    // Nobody finds a controller any more before those who asked for its end hear of it.
    let _ = session.doors.remove_file(&session.paths.socket);
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
    // As late as can be: without it nobody waits for this process any more.
    drop(lock);
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

fn index(
    session: &Session,
    plan: &DevPlan,
    messages: Messages,
) -> Result<Indexer, ControllerError> {
    let lost = move || {
        let note = "cp9 itself has failed and indexes logs no more; run `cp9 pause`, then `cp9 up`";
        let _ = messages.send(Message::Note(note.to_owned()));
    };
    let (doors, folder) = (&session.doors, &session.paths.folder);
    Ok(Indexer::start(doors, folder, reload::owners(plan), lost)?)
}

fn at_once() -> usize {
    std::thread::available_parallelism()
        .map_or(2, std::num::NonZero::get)
        .max(2)
}

/// Takes the controller's lock. That of a killed one outlives it by the time its threads take to
/// end, and is waited for.
async fn lock(session: &Session) -> Result<FileLock, ControllerError> {
    let info = LockInfo {
        pid: procs::own_pid(),
        command: "cp9 controller serve".into(),
        version: session.version.to_string(),
        started: session.doors.clock.now(),
    };
    let deadline = session.doors.clock.instant() + DYING;
    loop {
        let source = match FileLock::try_acquire(&session.paths.lock(), &info) {
            Ok(lock) => return Ok(lock),
            Err(source) => source,
        };
        if !is_dying(&source) || session.doors.clock.instant() > deadline {
            return Err(ControllerError::Lock {
                folder: session.paths.folder.clone(),
                source,
            });
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// True when the process that holds the lock has ended and the system has not let go of it yet.
fn is_dying(error: &LockError) -> bool {
    let LockError::Held { info, .. } = error else {
        return false;
    };
    let alive = |info: &LockInfo| procs::find(info.pid).is_some_and(|facts| !facts.zombie);
    info.as_ref().is_some_and(|info| !alive(info))
}

/// The signals that end a controller.
struct Ended {
    term: Signal,
    int: Signal,
    /// Unless whoever started it said that a hangup means nothing.
    hangup: Option<Signal>,
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
            hangup: if procs::ignores_hangup() {
                None
            } else {
                Some(on(SignalKind::hangup())?)
            },
        })
    }

    async fn forward(mut self, cancel: CancellationToken, messages: Messages) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.int.recv() => {}
            _ = hangup => {}
            () = cancel.cancelled() => {}
        }
        let _ = messages.send(Message::Shutdown);
    }
}
