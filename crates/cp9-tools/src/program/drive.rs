//! The loop around a running program: drains its output, ends its group when
//! time is up or cp9 is interrupted, and waits for nothing without a limit.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::procs::{ProcessId, Signal, signal_own_group};

use super::capture::Capture;
use super::cmd::Cmd;
use super::error::Ended;
use super::output::{Exit, StreamKind};

/// How long we go on reading after the program itself has ended, when something that it started
/// still holds its output.
const LINGER: Duration = Duration::from_millis(500);
/// How long a killed program may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(5);
/// No limit.
const FOR_EVER: Duration = Duration::from_hours(365 * 24);

/// Ends what is left of the group when a run ends or is given up, be it by dropping its future.
#[derive(Debug)]
struct GroupGuard(ProcessId);

impl GroupGuard {
    fn signal(&self, signal: Signal) {
        signal_own_group(self.0.pid, Some(signal));
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

/// A program that is being run to its end.
pub(super) struct Running {
    group: GroupGuard,
    child: Child,
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
    exit: Option<std::io::Result<Exit>>,
    captures: [Capture; 2],
    buffers: [Vec<u8>; 2],
    due: Instant,
}

/// How far a run has come.
enum Phase {
    Running,
    Terminating(Ended),
    Killed(Ended),
}

/// What happened next to a running program.
enum Event {
    Out(usize),
    Err(usize),
    Ended(std::io::Result<ExitStatus>),
    Interrupted,
    Due,
}

impl Running {
    pub(super) fn new(id: ProcessId, mut child: Child, captures: [Capture; 2]) -> Self {
        Self {
            group: GroupGuard(id),
            out: child.stdout.take(),
            err: child.stderr.take(),
            child,
            exit: None,
            captures,
            buffers: [vec![0; 16 * 1024], vec![0; 16 * 1024]],
            due: after(FOR_EVER),
        }
    }

    /// Goes on until the program has ended and its output too, and says why if we ended it.
    pub(super) async fn drive<F>(
        &mut self,
        cmd: &Cmd,
        cancel: &CancellationToken,
        sink: &mut F,
    ) -> Option<Ended>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        self.due = after(cmd.timeout.unwrap_or(FOR_EVER));
        let mut phase = Phase::Running;
        while self.exit.is_none() || self.out.is_some() || self.err.is_some() {
            let may_stop = matches!(phase, Phase::Running) && self.exit.is_none();
            let event = tokio::select! {
                event = self.next() => event,
                () = cancel.cancelled(), if may_stop => Event::Interrupted,
            };
            match event {
                Event::Out(read) => self.take_out(read, sink),
                Event::Err(read) => self.take_err(read, sink),
                Event::Ended(status) => self.note_end(status, &phase),
                Event::Interrupted => phase = self.terminate(cmd, Ended::Interrupted),
                Event::Due => match self.overdue(cmd, phase) {
                    Ok(next) => phase = next,
                    Err(result) => return result,
                },
            }
        }
        match phase {
            Phase::Running => None,
            Phase::Terminating(why) | Phase::Killed(why) => Some(why),
        }
    }

    /// How it ended, and what was kept of its output.
    pub(super) fn finish<F>(mut self, sink: &mut F) -> (std::io::Result<Exit>, [Capture; 2])
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        self.captures[0].end(StreamKind::Stdout, sink);
        self.captures[1].end(StreamKind::Stderr, sink);
        let exit = self.exit.take().unwrap_or_else(|| {
            Err(std::io::Error::other(
                "the program did not end when it was killed",
            ))
        });
        (exit, self.captures)
    }

    async fn next(&mut self) -> Event {
        let [out, err] = &mut self.buffers;
        tokio::select! {
            read = read(&mut self.out, out) => Event::Out(read),
            read = read(&mut self.err, err) => Event::Err(read),
            status = self.child.wait(), if self.exit.is_none() => Event::Ended(status),
            () = sleep_until(self.due) => Event::Due,
        }
    }

    fn take_out<F>(&mut self, read: usize, sink: &mut F)
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        if read == 0 {
            self.out = None;
        }
        self.captures[0].take(&self.buffers[0][..read], StreamKind::Stdout, sink);
    }

    fn take_err<F>(&mut self, read: usize, sink: &mut F)
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        if read == 0 {
            self.err = None;
        }
        self.captures[1].take(&self.buffers[1][..read], StreamKind::Stderr, sink);
    }

    fn note_end(&mut self, status: std::io::Result<ExitStatus>, phase: &Phase) {
        self.exit = Some(status.map(Exit::from));
        if matches!(phase, Phase::Running) {
            self.due = after(LINGER);
        }
    }

    fn terminate(&mut self, cmd: &Cmd, why: Ended) -> Phase {
        self.group.signal(Signal::Term);
        self.due = after(cmd.grace);
        Phase::Terminating(why)
    }

    /// What follows when time is up: the next phase, or the end of the run.
    fn overdue(&mut self, cmd: &Cmd, phase: Phase) -> Result<Phase, Option<Ended>> {
        match phase {
            Phase::Running if self.exit.is_some() => Err(None),
            Phase::Running => {
                let limit = cmd.timeout.unwrap_or_default();
                Ok(self.terminate(cmd, Ended::TimedOut(limit)))
            }
            Phase::Terminating(why) => {
                self.group.signal(Signal::Kill);
                self.due = after(KILL_TIME);
                Ok(Phase::Killed(why))
            }
            Phase::Killed(why) => Err(Some(why)),
        }
    }
}

/// That much from now; limits beyond all measure are none.
fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(FOR_EVER)
}

async fn read<R: AsyncRead + Unpin>(from: &mut Option<R>, buffer: &mut [u8]) -> usize {
    match from {
        // A broken pipe ends the stream like any other end.
        Some(from) => from.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}
