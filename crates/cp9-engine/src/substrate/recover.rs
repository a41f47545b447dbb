//! What an earlier run left: a Terraform that still works, providers without one, a log that was not read to
//! its end, a state that could not be written.

use std::time::Duration;

use cp9_model::scope::ENV_ID;
use cp9_model::substrate::Track;
use cp9_tools::terraform::{Line, parse_line};
use cp9_tools::{Limits, ProcessFacts, procs};

use super::call::Command;
use super::paths::Paths;
use super::record;
use super::work::{Tell, Work};
use crate::error::EngineError;

/// How long a provider without its Terraform may take to end.
const LEFTOVER: Duration = Duration::from_secs(3);

/// What becomes of a Terraform that still works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recover {
    /// It is waited for.
    Wait,
    /// It is interrupted, and waited for while it writes its state.
    Stop,
}

impl Work<'_> {
    /// Takes in what an earlier run left. Comes before anything else that touches the state.
    pub(crate) async fn recover(&self, how: Recover, tell: Tell<'_>) -> Result<(), EngineError> {
        if !self.engine.doors.exists(&self.paths.logs()) {
            return Ok(());
        }
        for (command, process) in self.at_work() {
            let log = self.paths.log(command.word());
            let Some(followed) = self.engine.doors.find_followed(process.id, &log) else {
                continue;
            };
            tell(&format!(
                "`{} {}` of an earlier run still works (pid {})",
                self.terraform.name,
                command.argument(),
                process.id.pid
            ));
            let limits = match how {
                Recover::Wait => command.limits(),
                Recover::Stop => Limits {
                    run: Duration::ZERO,
                    ..command.limits()
                },
            };
            let mut told = |line: &Line| narrate(line, tell);
            let ended = self.follow(command, followed, limits, &mut told).await;
            if how == Recover::Wait {
                ended?;
            }
        }
        for process in self.marked() {
            procs::stop(process.id, LEFTOVER).await;
        }
        self.push_errored(tell).await?;
        self.take_in().map(drop)
    }

    /// Commands of this session that are still at work.
    fn at_work(&self) -> Vec<(Command, ProcessFacts)> {
        let programs = ["terraform", "tofu", self.terraform.name];
        let named = |one: &ProcessFacts| {
            let exe = one.exe.as_ref().and_then(|exe| exe.file_name());
            let first = one.cmd.first().and_then(|first| first.rsplit('/').next());
            exe.or(first).is_some_and(|name| programs.contains(&name))
                || first.is_some_and(|name| programs.contains(&name))
        };
        let command = |one: &ProcessFacts| {
            let argument = one.cmd.get(1).map(String::as_str);
            let looks = one.cmd.iter().any(|arg| arg == "-detailed-exitcode");
            let all = Command::ALL.into_iter();
            let mut same = all.filter(|command| Some(command.argument()) == argument);
            same.find(|command| (*command == Command::Look) == looks)
        };
        let marked = self.marked().into_iter().filter(named);
        marked
            .filter_map(|one| Some((command(&one)?, one)))
            .collect()
    }

    /// Processes of this session that work in the copy.
    fn marked(&self) -> Vec<ProcessFacts> {
        let source = self.paths.source();
        let ours = |one: &ProcessFacts| {
            let here = one.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&source));
            !one.zombie && here && one.var(ENV_ID) == Some(self.scope.id.as_str())
        };
        procs::scan().into_iter().filter(ours).collect()
    }

    /// Puts a state where it belongs that Terraform could only write beside itself.
    async fn push_errored(&self, tell: Tell<'_>) -> Result<(), EngineError> {
        let doors = &self.engine.doors;
        let errored = Paths::errored(&self.place.root);
        if !doors.exists(&errored) {
            return Ok(());
        }
        tell("putting back a state that could not be written");
        let cmd = self.terraform.push(&doors.env, &self.place, &errored);
        doors.run(&cmd).await?.checked()?;
        let kept = self.paths.logs().join("errored.tfstate");
        Ok(doors.rename(&errored, &kept)?)
    }

    /// Brings the ledger up to date: what the logs say was begun and done, then what the state knows.
    pub(super) fn take_in(&self) -> Result<Track, EngineError> {
        let doors = &self.engine.doors;
        let mut track = self.track();
        for command in [Command::Apply, Command::Destroy] {
            let log = self.paths.log(command.word());
            if !doors.exists(&log) {
                continue;
            }
            let text = doors.read(&log)?;
            for line in String::from_utf8_lossy(&text).lines() {
                if let Some(Line::Step { step, .. }) = parse_line(line) {
                    track.step(&step);
                }
            }
        }
        track.settle(&record::state(self.engine, &self.paths.state())?);
        self.keep(&track)?;
        // Only now is the log of no more use than for people.
        for command in [Command::Apply, Command::Destroy] {
            let log = self.paths.log(command.word());
            if doors.exists(&log) {
                doors.rename(&log, &self.paths.settled_log(command.word()))?;
            }
        }
        Ok(track)
    }
}

/// Progress for people.
pub(super) fn narrate(line: &Line, tell: Tell<'_>) {
    match line {
        Line::Step { message, .. } | Line::Message(message) => tell(message),
        Line::Problem(_) => {}
    }
}
