//! One call of Terraform: its output goes to a log that is read along, its problems are gathered, and how it
//! ended becomes an answer or an error.

use std::time::Duration;

use cp9_tools::terraform::{Line, Problem, parse_line};
use cp9_tools::{Cmd, Exit, FollowEnd, Followed, Limits, ProcessFacts, procs};

use super::error::{SubstrateError, category};
use super::work::Work;
use crate::error::EngineError;

/// From the interrupt to the kill: Terraform waits for what it has begun and writes its state.
pub(super) const GRACE: Duration = Duration::from_mins(2);
/// Lines of a program without JSON that an error repeats.
const SAID: usize = 12;
/// Problems that an error repeats.
const MOST: usize = 6;

/// What Terraform is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// Providers and modules.
    Init,
    /// A plan that is saved.
    Plan,
    /// A plan that is not.
    Look,
    /// A saved plan made true.
    Apply,
    /// Everything destroyed.
    Destroy,
    /// Something taken into the state.
    Import,
}

impl Command {
    pub(super) const ALL: [Self; 6] = [
        Self::Init,
        Self::Plan,
        Self::Look,
        Self::Apply,
        Self::Destroy,
        Self::Import,
    ];

    /// The word for people, and for the log.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Plan => "plan",
            Self::Look => "look",
            Self::Apply => "apply",
            Self::Destroy => "destroy",
            Self::Import => "import",
        }
    }

    /// What Terraform calls it.
    pub(super) fn argument(self) -> &'static str {
        match self {
            Self::Look => "plan",
            other => other.word(),
        }
    }

    /// True for a command whose log says what exists.
    pub(super) fn makes(self) -> bool {
        matches!(self, Self::Apply | Self::Destroy)
    }

    pub(super) fn limits(self) -> Limits {
        let run = match self {
            Self::Init | Self::Plan | Self::Look | Self::Import => Duration::from_mins(15),
            Self::Apply | Self::Destroy => Duration::from_mins(90),
        };
        Limits { run, grace: GRACE }
    }
}

/// What a call said.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Its exit; none if it was no child of ours.
    pub(super) exit: Option<Exit>,
    /// Errors, in their order.
    pub(super) problems: Vec<Problem>,
    /// The last lines that are no JSON.
    pub(super) text: Vec<String>,
}

impl Said {
    /// True if it says that providers or modules are not there.
    pub(super) fn wants_init(&self) -> bool {
        let summaries = self.problems.iter().map(|problem| problem.summary.as_str());
        let wants = |text: &str| {
            [
                "Required plugins are not installed",
                "Inconsistent dependency lock file",
                "Backend initialization required",
                "Module not installed",
                "Missing or corrupted provider plugins",
            ]
            .iter()
            .any(|known| text.contains(known))
        };
        let mut all = summaries.chain(self.text.iter().map(String::as_str));
        all.any(wants)
    }
}

impl Work<'_> {
    /// Runs a command to its end; the exit is judged by the caller.
    pub(super) async fn call(
        &self,
        command: Command,
        cmd: &Cmd,
        sink: &mut dyn FnMut(&Line),
    ) -> Result<Said, EngineError> {
        let doors = &self.engine.doors;
        doors.create_private_dir(&self.paths.logs())?;
        let log = self.paths.log(command.word());
        // A log that is still there was read by `recover`, which comes before any call.
        doors.remove_file(&log)?;
        let followed = doors.start_followed(cmd, &log)?;
        self.follow(command, followed, command.limits(), sink).await
    }

    /// Reads along until it ends.
    pub(super) async fn follow(
        &self,
        command: Command,
        followed: Followed,
        limits: Limits,
        sink: &mut dyn FnMut(&Line),
    ) -> Result<Said, EngineError> {
        let mut said = Said::default();
        let doors = &self.engine.doors;
        let end = followed
            .to_end(doors, limits, &mut |line| take(line, &mut said, sink))
            .await;
        self.clean(command)?;
        let why = |ended: bool, why: &str| {
            let unfinished = "; it did not end in time and was killed";
            let more = if ended { "" } else { unfinished };
            SubstrateError::Stopped {
                program: self.terraform.name.to_owned(),
                command: command.argument(),
                why: format!("{why}{more}"),
            }
        };
        match end {
            FollowEnd::Exit(exit) => said.exit = Some(exit),
            FollowEnd::Gone => {}
            FollowEnd::Interrupted(ended) => return Err(why(ended, "was interrupted").into()),
            FollowEnd::TimedOut(ended) => return Err(why(ended, "took too long").into()),
        }
        Ok(said)
    }

    /// The same, where anything but code 0 is a failure.
    pub(super) async fn must(
        &self,
        command: Command,
        cmd: &Cmd,
        sink: &mut dyn FnMut(&Line),
    ) -> Result<Said, EngineError> {
        let said = self.call(command, cmd, sink).await?;
        match said.exit {
            Some(Exit::Code(0)) => Ok(said),
            _ => Err(self.failure(command, &said).into()),
        }
    }

    /// The error of a call that failed.
    pub(super) fn failure(&self, command: Command, said: &Said) -> SubstrateError {
        if let Some(lock) = said.problems.iter().find_map(Problem::lock) {
            let pid = self.holder();
            return SubstrateError::Held { lock, pid };
        }
        let mut problems: Vec<String> = said.problems.iter().map(Problem::told).collect();
        problems.truncate(MOST);
        if problems.is_empty() {
            problems.clone_from(&said.text);
        }
        SubstrateError::Failed {
            program: self.terraform.name.to_owned(),
            command: command.argument(),
            problems,
            log: self.paths.settled_log(command.word()),
            category: category(&said.problems),
        }
    }

    /// The process that works in this folder and is not known to be ours: Terraform itself, not its children.
    fn holder(&self) -> Option<u32> {
        let own = procs::own_pid();
        let source = self.paths.source();
        let here = |cwd: &camino::Utf8PathBuf| cwd.starts_with(&source);
        let mut found = procs::scan();
        found.retain(|one| one.id.pid != own && !one.zombie && one.cwd.as_ref().is_some_and(here));
        let is_terraform = |one: &&ProcessFacts| matches!(one.name.as_str(), "terraform" | "tofu");
        let first = found.iter().find(is_terraform).or(found.first());
        first.map(|one| one.id.pid)
    }

    /// What Terraform wrote by itself is no less free of secrets than what we write.
    fn clean(&self, command: Command) -> Result<(), EngineError> {
        let doors = &self.engine.doors;
        let log = self.paths.log(command.word());
        if !doors.exists(&log) {
            return Ok(());
        }
        let bytes = doors.read(&log)?;
        let text = doors.redactor.redact(&String::from_utf8_lossy(&bytes));
        doors.write_if_changed(&log, text.as_bytes(), 0o600)?;
        if command.makes() {
            return Ok(());
        }
        Ok(doors.rename(&log, &self.paths.settled_log(command.word()))?)
    }
}

fn take(line: &str, said: &mut Said, sink: &mut dyn FnMut(&Line)) {
    match parse_line(line) {
        Some(line) => {
            if let Line::Problem(problem) = &line
                && problem.error
            {
                said.problems.push(problem.clone());
            }
            sink(&line);
        }
        None if line.starts_with('{') || line.trim().is_empty() => {}
        None => {
            if said.text.len() == SAID {
                said.text.remove(0);
            }
            said.text.push(line.to_owned());
        }
    }
}
