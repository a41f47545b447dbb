//! Runs a program to its end: drains its output, feeds its input, ends its group when time is up
//! or cp9 is interrupted, and waits for nothing without a limit.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, sleep_until};

use crate::Doors;
use crate::http::millis;
use crate::procs::{Signal, signal_own_group};
use crate::record::{Call, Kind};

use super::capture::{Capture, STDERR_KEPT};
use super::cmd::Cmd;
use super::error::{Ended, Invocation, ProgramError};
use super::launch::{Group, no_input};
use super::output::{Exit, Output, StreamKind};

/// How long we go on reading after the program itself has ended, when something that it started
/// still holds its output.
const LINGER: Duration = Duration::from_millis(500);
/// How long a killed program may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(5);

impl Doors {
    /// Runs a program to its end and keeps what it says. A code other than 0 is no error here:
    /// see `Output::checked`.
    pub async fn run(&self, cmd: &Cmd) -> Result<Output, ProgramError> {
        cmd.teach(&self.redactor);
        let stdout = Capture::head(cmd.cap);
        let stderr = Capture::tail(cmd.cap.min(STDERR_KEPT));
        self.run_recorded(cmd, stdout, stderr, &mut |_, _: &str| ())
            .await
    }

    /// Runs a program to its end and hands on each line as it comes, clean and redacted.
    pub async fn run_lines<F>(&self, cmd: &Cmd, sink: &mut F) -> Result<Output, ProgramError>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        cmd.teach(&self.redactor);
        let (stdout, stderr) = (
            Capture::lines(&self.redactor),
            Capture::lines(&self.redactor),
        );
        self.run_recorded(cmd, stdout, stderr, sink).await
    }

    async fn run_recorded<F>(
        &self,
        cmd: &Cmd,
        stdout: Capture,
        stderr: Capture,
        sink: &mut F,
    ) -> Result<Output, ProgramError>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        let started = self.clock.instant();
        let mut result = self.run_to_end(cmd, stdout, stderr, sink).await;
        let took = millis(started.elapsed());
        if let Ok(output) = &mut result {
            output.millis = took;
        }
        let outcome = match &result {
            Ok(output) => output.status.to_string(),
            Err(error) => error.outcome(),
        };
        self.record_program(cmd, took, outcome);
        result
    }

    pub(super) fn record_program(&self, cmd: &Cmd, millis: u64, outcome: String) {
        let call = Call {
            kind: Kind::Program,
            what: cmd.program().to_owned(),
            argv: cmd.argv(),
            url: None,
            path: None,
            cwd: cmd.cwd.as_ref().map(ToString::to_string),
            millis,
            outcome,
        };
        if cmd.quiet {
            self.recorder.quiet().call(call);
        } else {
            self.recorder.call(call);
        }
    }

    async fn run_to_end<F>(
        &self,
        cmd: &Cmd,
        stdout: Capture,
        stderr: Capture,
        sink: &mut F,
    ) -> Result<Output, ProgramError>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        let invocation = Invocation::of(cmd, &self.redactor);
        if self.cancel.is_cancelled() {
            return Err(ProgramError::new(invocation, Ended::Interrupted));
        }
        let mut running = self.start(cmd, stdout, stderr, &invocation)?;
        let stopped = running.drive(cmd, &self.cancel, sink).await;
        let status = running.finish(sink).await;
        let (stdout, cut) = running.stdout.text();
        let (stderr, _) = running.stderr.text();
        let stderr = self.redactor.redact(&stderr);
        match (stopped, status) {
            (Some(ended), _) => Err(ProgramError::new(invocation, ended).said(&stderr)),
            (None, Err(error)) => {
                Err(ProgramError::new(invocation, Ended::System(error)).said(&stderr))
            }
            (None, Ok(status)) => Ok(Output {
                status,
                stdout,
                stderr,
                millis: 0,
                truncated: cut,
                invocation,
            }),
        }
    }

    fn start(
        &self,
        cmd: &Cmd,
        stdout: Capture,
        stderr: Capture,
        invocation: &Invocation,
    ) -> Result<Running, ProgramError> {
        let launched = self.launch(cmd, Group::Own, &|command| {
            no_input(command);
            if cmd.stdin.is_some() {
                command.stdin(Stdio::piped());
            }
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true);
            Ok(())
        })?;
        let Some(mut child) = launched.child else {
            let lost = std::io::Error::other("the child was lost");
            return Err(ProgramError::new(invocation.clone(), Ended::System(lost)));
        };
        Ok(Running {
            group: GroupGuard(Some(launched.id.pid)),
            out: child.stdout.take(),
            err: child.stderr.take(),
            input: child.stdin.take(),
            child,
            exit: None,
            stdout,
            stderr,
        })
    }
}

/// Ends the whole group when a run is given up, be it by dropping its future.
#[derive(Debug)]
struct GroupGuard(Option<u32>);

impl GroupGuard {
    fn signal(&self, signal: Option<Signal>) -> bool {
        self.0
            .is_some_and(|leader| signal_own_group(leader, signal))
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.signal(Some(Signal::Kill));
    }
}

struct Running {
    group: GroupGuard,
    child: Child,
    input: Option<ChildStdin>,
    out: Option<ChildStdout>,
    err: Option<ChildStderr>,
    exit: Option<std::io::Result<Exit>>,
    stdout: Capture,
    stderr: Capture,
}

/// What the loop is waiting for, beside the program's own end.
enum Phase {
    Running,
    Terminating(Ended),
    Killed(Ended),
}

impl Running {
    /// Drains until the program has ended and its output too; says why it was ended by us.
    async fn drive<F>(
        &mut self,
        cmd: &Cmd,
        cancel: &tokio_util::sync::CancellationToken,
        sink: &mut F,
    ) -> Option<Ended>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        let far = Instant::now() + Duration::from_secs(86_400 * 365);
        let mut phase = Phase::Running;
        let mut deadline = cmd.timeout.map_or(far, |limit| Instant::now() + limit);
        let input = feed(self.input.take(), cmd.stdin.as_deref().unwrap_or_default());
        tokio::pin!(input);
        let (mut fed, mut out, mut err) = (false, [0; 16 * 1024], [0; 16 * 1024]);
        while !self.ended() {
            tokio::select! {
                read = read(&mut self.out, &mut out), if self.out.is_some() => match read {
                    0 => self.out = None,
                    read => self.stdout.take(&out[..read], StreamKind::Stdout, sink),
                },
                read = read(&mut self.err, &mut err), if self.err.is_some() => match read {
                    0 => self.err = None,
                    read => self.stderr.take(&err[..read], StreamKind::Stderr, sink),
                },
                () = &mut input, if !fed => fed = true,
                status = self.child.wait(), if self.exit.is_none() => {
                    self.exit = Some(status.map(Exit::from));
                    if matches!(phase, Phase::Running) {
                        deadline = Instant::now() + LINGER;
                    }
                }
                () = cancel.cancelled(), if matches!(phase, Phase::Running) && self.exit.is_none() => {
                    deadline = self.terminate(cmd);
                    phase = Phase::Terminating(Ended::Interrupted);
                }
                () = sleep_until(deadline) => match phase {
                    Phase::Running if self.exit.is_some() => break,
                    Phase::Running => {
                        deadline = self.terminate(cmd);
                        phase = Phase::Terminating(Ended::TimedOut(cmd.timeout.unwrap_or_default()));
                    }
                    Phase::Terminating(why) => {
                        self.group.signal(Some(Signal::Kill));
                        deadline = Instant::now() + KILL_TIME;
                        phase = Phase::Killed(why);
                    }
                    Phase::Killed(why) => return Some(why),
                },
            }
        }
        match phase {
            Phase::Running => None,
            Phase::Terminating(why) | Phase::Killed(why) => Some(why),
        }
    }

    fn ended(&self) -> bool {
        self.exit.is_some() && self.out.is_none() && self.err.is_none()
    }

    fn terminate(&self, cmd: &Cmd) -> Instant {
        self.group.signal(Some(Signal::Term));
        Instant::now() + cmd.grace
    }

    async fn finish<F>(&mut self, sink: &mut F) -> std::io::Result<Exit>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        self.stdout.end(StreamKind::Stdout, sink);
        self.stderr.end(StreamKind::Stderr, sink);
        self.exit.take().unwrap_or_else(|| {
            Err(std::io::Error::other(
                "the program did not end when it was killed",
            ))
        })
    }
}

async fn read<R: tokio::io::AsyncRead + Unpin>(from: &mut Option<R>, buffer: &mut [u8]) -> usize {
    match from {
        // A broken pipe ends the stream like any other end.
        Some(from) => from.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

async fn feed(input: Option<ChildStdin>, bytes: &[u8]) {
    if let Some(mut input) = input {
        // A program that does not read all of its input is free to do so.
        let _ = input.write_all(bytes).await;
        let _ = input.shutdown().await;
    }
}
