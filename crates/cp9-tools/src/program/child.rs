//! Programs that run on while we do other things: children of the controller, and the controller.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use camino::Utf8Path;
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use crate::Doors;
use crate::procs::{ProcessId, Signal, group_lives, signal_own_group};

use super::cmd::Cmd;
use super::error::{Ended, Invocation, ProgramError};
use super::launch::{Group, Launched, no_input};
use super::output::Exit;

/// How long a killed child may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(5);
/// How long what a child leaves behind may take to end by itself.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);
/// Pause between two looks at a group that is ending.
const LOOK_EVERY: Duration = Duration::from_millis(10);

impl Doors {
    /// Starts a program in its own process group; both outputs are appended straight to the file,
    /// so that it outlives us when we die. Needs a running runtime.
    pub fn spawn(&self, cmd: &Cmd, stdout_append: &Utf8Path) -> Result<Child, ProgramError> {
        let launched = self.spawn_logged(cmd, stdout_append, Group::Own)?;
        Ok(Child {
            id: launched.id,
            process: launched.child,
            exit: None,
            swept: false,
        })
    }

    /// Starts a program in its own session, which survives us. Needs a running runtime.
    pub fn spawn_detached(&self, cmd: &Cmd, log: &Utf8Path) -> Result<ProcessId, ProgramError> {
        let launched = self.spawn_logged(cmd, log, Group::Session)?;
        Ok(launched.id)
    }

    fn spawn_logged(
        &self,
        cmd: &Cmd,
        log: &Utf8Path,
        group: Group,
    ) -> Result<Launched, ProgramError> {
        cmd.teach(&self.redactor);
        let result = self.open_and_launch(cmd, log, group);
        let outcome = match &result {
            Ok(launched) => format!("started pid {}", launched.id.pid),
            Err(error) => error.outcome(),
        };
        self.record_program(cmd, 0, outcome);
        result
    }

    fn open_and_launch(
        &self,
        cmd: &Cmd,
        log: &Utf8Path,
        group: Group,
    ) -> Result<Launched, ProgramError> {
        let file = open_log(log).map_err(|source| {
            let invocation = Invocation::of(cmd, &self.redactor);
            ProgramError::new(invocation, Ended::Log(log.to_owned(), source))
        })?;
        self.launch(cmd, group, &|command: &mut Command| {
            no_input(command);
            command.stdout(file.try_clone()?).stderr(file.try_clone()?);
            Ok(())
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the file is handed to the child, which appends"
)]
fn open_log(log: &Utf8Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(log)
}

/// A child with its process group. Dropping it leaves it running.
#[derive(Debug)]
pub struct Child {
    /// Which process.
    pub id: ProcessId,
    process: Option<tokio::process::Child>,
    exit: Option<Exit>,
    swept: bool,
}

impl Child {
    /// Waits for its end, and ends what is left of its group then. May be called again, and its
    /// future may be dropped.
    pub async fn wait(&mut self) -> Exit {
        let exit = self.leader().await;
        if !self.swept {
            signal_own_group(self.id.pid, Some(Signal::Term));
            self.sweep(Instant::now() + LEFTOVER_GRACE).await;
        }
        exit
    }

    /// Asks the group to end, and kills after the grace what is left of it.
    pub async fn stop(&mut self, grace: Duration) -> Exit {
        if self.swept {
            return self.leader().await;
        }
        signal_own_group(self.id.pid, Some(Signal::Term));
        // A day is for ever here, and cannot overflow.
        let due = Instant::now() + grace.min(Duration::from_hours(24));
        if tokio::time::timeout_at(due, self.leader()).await.is_err() {
            signal_own_group(self.id.pid, Some(Signal::Kill));
        }
        let killed = Exit::Signal(nix::sys::signal::Signal::SIGKILL as i32);
        let exit = timeout(KILL_TIME, self.leader()).await.unwrap_or(killed);
        self.sweep(due).await;
        exit
    }

    /// Waits for the child itself, whatever its group does.
    async fn leader(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let status = match &mut self.process {
            Some(child) => child.wait().await.ok(),
            None => None,
        };
        *self.exit.insert(status.map_or(Exit::Code(-1), Exit::from))
    }

    /// Gives the rest of the group until then, and kills it: it would keep its ports.
    async fn sweep(&mut self, due: Instant) {
        while group_lives(self.id.pid) && Instant::now() < due {
            sleep(LOOK_EVERY).await;
        }
        signal_own_group(self.id.pid, Some(Signal::Kill));
        self.swept = true;
    }
}
