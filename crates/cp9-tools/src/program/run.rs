//! Runs a program to its end, kept in memory or handed on line by line, and records it.

use std::process::Stdio;

use crate::Doors;
use crate::http::millis;
use crate::record::{Call, Kind};

use super::capture::{Capture, STDERR_KEPT};
use super::cmd::Cmd;
use super::drive::Running;
use super::error::{Ended, Invocation, ProgramError};
use super::launch::{Group, no_input};
use super::output::{Output, StreamKind};

impl Doors {
    /// Runs a program to its end and keeps what it says. A code other than 0 is no error here:
    /// see `Output::checked`. Dropping the future kills the program with its group.
    pub async fn run(&self, cmd: &Cmd) -> Result<Output, ProgramError> {
        cmd.teach(&self.redactor);
        let stdout = Capture::head(cmd.cap);
        let stderr = Capture::tail(cmd.cap.min(STDERR_KEPT));
        self.run_recorded(cmd, [stdout, stderr], &mut |_, _: &str| ())
            .await
    }

    /// Runs a program to its end and hands on each line as it comes, clean and redacted.
    /// Dropping the future kills the program with its group.
    pub async fn run_lines<F>(&self, cmd: &Cmd, sink: &mut F) -> Result<Output, ProgramError>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        cmd.teach(&self.redactor);
        let lines = || Capture::lines(&self.redactor);
        self.run_recorded(cmd, [lines(), lines()], sink).await
    }

    async fn run_recorded<F>(
        &self,
        cmd: &Cmd,
        captures: [Capture; 2],
        sink: &mut F,
    ) -> Result<Output, ProgramError>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        let started = self.clock.instant();
        let mut result = self.run_to_end(cmd, captures, sink).await;
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
            argv: cmd.argv(),
            cwd: cmd.cwd.as_ref().map(ToString::to_string),
            ..Call::new(Kind::Program, cmd.program(), millis, outcome)
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
        captures: [Capture; 2],
        sink: &mut F,
    ) -> Result<Output, ProgramError>
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        let invocation = Invocation::of(cmd, &self.redactor);
        if self.cancel.is_cancelled() {
            return Err(ProgramError::new(invocation, Ended::Interrupted));
        }
        let mut running = self.start(cmd, captures, &invocation)?;
        let stopped = running.drive(cmd, &self.cancel, sink).await;
        let (status, [stdout, stderr]) = running.finish(sink);
        let longest = self.redactor.longest();
        let stderr = self.redactor.redact(&stderr.text(longest).0);
        let ended = match (stopped, status) {
            (None, Ok(status)) => {
                let (stdout, truncated) = stdout.text(longest);
                return Ok(Output {
                    status,
                    stdout,
                    stderr,
                    millis: 0,
                    truncated,
                    invocation,
                    redactor: self.redactor.clone(),
                });
            }
            (None, Err(error)) => Ended::System(error),
            (Some(ended), _) => ended,
        };
        Err(ProgramError::new(invocation, ended).said(&stderr))
    }

    fn start(
        &self,
        cmd: &Cmd,
        captures: [Capture; 2],
        invocation: &Invocation,
    ) -> Result<Running, ProgramError> {
        let launched = self.launch(cmd, Group::Own, &|command| {
            no_input(command);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.kill_on_drop(true);
            Ok(())
        })?;
        let id = launched.id;
        let running = launched
            .child
            .map(|child| Running::new(id, child, captures));
        running.ok_or_else(|| {
            let lost = std::io::Error::other("the child was lost");
            ProgramError::new(invocation.clone(), Ended::System(lost))
        })
    }
}
