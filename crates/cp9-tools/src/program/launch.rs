//! From a command to a running process group: lookup, environment, spawn.

use std::process::Stdio;
use std::time::Duration;

use camino::Utf8Path;
use process_wrap::tokio::{CommandWrap, ProcessSession};
use tokio::process::{Child, Command};

use crate::Doors;
use crate::procs::{ProcessId, identify};

use super::cmd::Cmd;
use super::error::{Ended, Invocation, ProgramError};

/// A file that we wrote a moment ago may still be open for writing in a child of another thread
/// that is between fork and exec; that passes within milliseconds.
const BUSY_TRIES: u32 = 40;
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Which process group a child gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// A group of its own.
    Own,
    /// A session of its own.
    Session,
}

impl Doors {
    /// Starts a program; `stdio` wires its streams.
    pub(super) fn launch(
        &self,
        cmd: &Cmd,
        group: Group,
        stdio: &dyn Fn(&mut Command) -> std::io::Result<()>,
    ) -> Result<Launched, ProgramError> {
        let invocation = Invocation::of(cmd, &self.redactor);
        let failed = |ended| ProgramError::new(invocation.clone(), ended);
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(failed(Ended::System(std::io::Error::other(
                "no runtime is running",
            ))));
        }
        if cmd.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) {
            return Err(failed(Ended::CwdMissing));
        }
        let environment = cmd.environment(&self.env);
        let path = environment.get("PATH").copied().unwrap_or_default();
        let program = look_up(&cmd.program, path, cmd.cwd.as_deref()).map_err(&failed)?;
        let prepare = || {
            let mut command = command(&program);
            command.args(cmd.real_args()).env_clear().envs(&environment);
            if let Some(cwd) = &cmd.cwd {
                command.current_dir(cwd);
            }
            stdio(&mut command).map(|()| command)
        };
        spawn(prepare, group).map_err(|error| failed(refused(error)))
    }
}

#[expect(clippy::disallowed_methods, reason = "the one door to programs")]
fn command(program: &std::path::Path) -> Command {
    Command::new(program)
}

/// A process that was started.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) id: ProcessId,
    pub(super) child: Option<Child>,
}

fn spawn(
    prepare: impl Fn() -> std::io::Result<Command>,
    group: Group,
) -> std::io::Result<Launched> {
    let mut tries = 0;
    loop {
        match spawn_once(prepare()?, group) {
            Err(error)
                if error.kind() == std::io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
            {
                tries += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return result,
        }
    }
}

fn spawn_once(mut command: Command, group: Group) -> std::io::Result<Launched> {
    if group == Group::Session {
        // The handle is dropped on purpose: the runtime reaps the child while we live.
        let child = CommandWrap::from(command).wrap(ProcessSession).spawn()?;
        return Ok(Launched {
            id: id_of(child.id()),
            child: None,
        });
    }
    let child = command.process_group(0).spawn()?;
    Ok(Launched {
        id: id_of(child.id()),
        child: Some(child),
    })
}

/// The child has not been reaped yet, so that the system still knows it even if it has ended.
fn id_of(pid: Option<u32>) -> ProcessId {
    let pid = pid.unwrap_or_default();
    identify(pid).unwrap_or(ProcessId { pid, start_time: 0 })
}

fn refused(error: std::io::Error) -> Ended {
    const EXEC_FORMAT: i32 = nix::errno::Errno::ENOEXEC as i32;
    match error.kind() {
        // The file was found before, so what is missing is the interpreter that it names.
        std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => Ended::NotExecutable,
        _ if error.raw_os_error() == Some(EXEC_FORMAT) => Ended::NotExecutable,
        _ => Ended::System(error),
    }
}

fn look_up(program: &str, path: &str, cwd: Option<&Utf8Path>) -> Result<std::path::PathBuf, Ended> {
    let here = cwd.map_or(std::path::Path::new("."), Utf8Path::as_std_path);
    if let Ok(found) = which::which_in(program, Some(path), here) {
        // A relative path would be looked up again from the child's directory.
        return std::path::absolute(found).map_err(Ended::System);
    }
    let mut candidates: Vec<std::path::PathBuf> = vec![here.join(program)];
    if !program.contains('/') {
        candidates = std::env::split_paths(path)
            .map(|folder| folder.join(program))
            .collect();
    }
    let there = candidates.iter().any(|candidate| candidate.is_file());
    Err(if there && !program.is_empty() {
        Ended::NotExecutable
    } else {
        Ended::NotFound
    })
}

/// No terminal and no input.
pub(super) fn no_input(command: &mut Command) {
    command.stdin(Stdio::null());
}
