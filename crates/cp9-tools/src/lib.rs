//! The only door to the outside: programs, HTTP, files, processes, locks.
//! Everything that goes through it is recorded, redacted, bounded in time and cancellable.

pub mod clock;
pub mod env;
pub mod files;
pub mod follow;
pub mod git;
pub mod http;
pub mod lines;
pub mod lock;
pub mod machine;
pub mod procs;
pub mod program;
pub mod record;
pub mod redact;
pub mod secret;
pub mod terraform;

pub use clock::Clock;
pub use env::Environment;
pub use files::FileError;
pub use follow::{FollowEnd, Followed, Limits};
pub use http::{HttpError, HttpReply, HttpRequest, HttpResponse};
pub use lines::{RedactingLines, strip_control};
pub use lock::{FileLock, LockError, LockInfo};
pub use procs::{ProcessFacts, ProcessId, Signal};
pub use program::{Child, Cmd, Ended, Exit, Output, ProgramError, StreamKind};
pub use record::Recorder;
pub use redact::{Former, Redactor};
pub use secret::Secret;
pub use tokio_util::sync::CancellationToken;

/// Everything outside, passed in. Clones are cheap and share recorder, redactor and cancellation.
#[derive(Debug, Clone)]
pub struct Doors {
    /// The variables that cp9 was started with.
    pub env: Environment,
    /// The time.
    pub clock: Clock,
    /// Where outbound calls are recorded.
    pub recorder: Recorder,
    /// What removes secrets from everything that is kept or shown.
    pub redactor: Redactor,
    /// Ends what is in flight.
    pub cancel: CancellationToken,
    /// The connections to the outside.
    pub(crate) outbound: http::Outbound,
}

impl Doors {
    /// Opens the doors; nothing is recorded to a file before `recorder.to_file`.
    pub fn new(env: Environment, clock: Clock, verbose: bool) -> Self {
        let redactor = Redactor::new();
        let recorder = Recorder::new(redactor.clone(), clock.clone(), verbose);
        Self {
            env,
            clock,
            recorder,
            redactor,
            cancel: CancellationToken::new(),
            outbound: http::Outbound::default(),
        }
    }

    /// The same doors for polling: a call is recorded only when its outcome differs from its last.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self {
            recorder: self.recorder.quiet(),
            ..self.clone()
        }
    }

    /// The same doors with a cancellation of their own below the common one.
    #[must_use]
    pub fn with_child_cancel(&self) -> Self {
        Self {
            cancel: self.cancel.child_token(),
            ..self.clone()
        }
    }
}
