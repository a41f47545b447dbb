//! Programs that run on while we do other things: children of the controller, and the controller.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use camino::Utf8Path;
use tokio::process::Command;

use crate::Doors;
use crate::procs::{ProcessId, Signal, signal_own_group};

use super::cmd::Cmd;
use super::error::{Ended, Invocation, ProgramError};
use super::launch::{Group, Launched, no_input};
use super::output::Exit;

/// How long a killed child may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(5);

impl Doors {
    /// Starts a program in its own process group; both outputs are appended straight to the file,
    /// so that it outlives us when we die. Needs a running runtime.
    pub fn spawn(&self, cmd: &Cmd, stdout_append: &Utf8Path) -> Result<Child, ProgramError> {
        let launched = self.spawn_logged(cmd, stdout_append, Group::Own)?;
        Ok(Child {
            id: launched.id,
            child: launched.child,
            exit: None,
        })
    }

    /// Starts a program in its own session, which survives us. Needs a running runtime.
    pub fn spawn_detached(&self, cmd: &Cmd, log: &Utf8Path) -> Result<ProcessId, ProgramError> {
        self.spawn_logged(cmd, log, Group::Session)
            .map(|launched| launched.id)
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

fn open_log(log: &Utf8Path) -> std::io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(log)
}

/// A child with its process group. Dropping it leaves it running.
#[derive(Debug)]
pub struct Child {
    /// Which process.
    pub id: ProcessId,
    child: Option<tokio::process::Child>,
    exit: Option<Exit>,
}

impl Child {
    /// Waits for its end, and ends what is left of its group then. May be called again, and its
    /// future may be dropped.
    pub async fn wait(&mut self) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        let status = match &mut self.child {
            Some(child) => child.wait().await.ok(),
            None => None,
        };
        // What it leaves behind would keep its ports.
        signal_own_group(self.id.pid, Some(Signal::Kill));
        *self.exit.insert(status.map_or(Exit::Code(-1), Exit::from))
    }

    /// Asks the group to end, and kills it after the grace.
    pub async fn stop(&mut self, grace: Duration) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        signal_own_group(self.id.pid, Some(Signal::Term));
        if let Ok(exit) = tokio::time::timeout(grace, self.wait()).await {
            return exit;
        }
        signal_own_group(self.id.pid, Some(Signal::Kill));
        let killed = tokio::time::timeout(KILL_TIME, self.wait()).await;
        killed.unwrap_or(Exit::Signal(nix::sys::signal::Signal::SIGKILL as i32))
    }
}
