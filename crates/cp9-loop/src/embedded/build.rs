//! One build from its start to its product: run in its own group, output to the log, the product
//! checked, named by its hash and put in its place.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::devplan::Resource;
use cp9_tools::{Cmd, Doors, Exit, FileError, ProcessId, procs};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::builder::{Event, Outcome, Product};
use super::child::{end_last_line, in_words, last_lines};
use super::generation::{self, Stamps};
use super::item::Turn;
use super::message::{Message, Messages};
use super::oversight::FAULT;
use super::plan::live_dir;
use super::product;
use super::session::Session;

/// What stands for the fresh path of each build.
const OUTPUT: &str = "${output}";
/// Marks a build's processes, so that the next controller finds one that nobody had the time to
/// record.
pub(super) const ENV_BUILD: &str = "CP9_BUILD";
/// Begins the name of what a build writes before it becomes the product.
pub(super) const OUTPUT_PREFIX: &str = "build-";
/// Lines of the compiler's message.
const LINES: usize = 40;
/// What files may be dated before the clock: file systems round.
const TIME_SLACK: SignedDuration = SignedDuration::from_secs(2);
/// How long a killed build may take to clean up.
const GRACE: Duration = Duration::from_secs(2);
/// How long a build may run: far longer than any that makes sense in a loop of change and look, so
/// that one which hangs is shown as failed and does not hold the place of others for ever.
const LIMIT: Duration = Duration::from_mins(30);

/// One build.
#[derive(Debug, Clone)]
pub(super) struct Build {
    pub(super) turn: Turn,
    pub(super) session: Session,
    pub(super) resource: Resource,
    pub(super) number: u64,
    /// Digest of the watched files that it is made from.
    pub(super) source: String,
    /// True when a process of the plan is started from the product itself.
    pub(super) executed: bool,
    pub(super) kill: CancellationToken,
    pub(super) messages: Messages,
}

impl Build {
    /// Runs it and tells how it ended.
    pub(super) async fn run(self) {
        // The record of the build before is written before this one reads it.
        let turn = tokio::select! {
            turn = self.turn.clone().lock_owned() => Some(turn),
            () = self.kill.cancelled() => None,
        };
        let permit = tokio::select! {
            permit = self.session.builds.acquire() => permit.ok(),
            () = self.kill.cancelled() => None,
        };
        let mut stamps = Stamps::default();
        let (outcome, millis) = match turn.as_ref().and(permit) {
            Some(_permit) => self.execute(&mut stamps).await,
            None => (Outcome::Killed, 0),
        };
        let product = match &outcome {
            Outcome::Built(product) => Some(product.clone()),
            _ => None,
        };
        let event = Event::Finished {
            number: self.number,
            outcome,
            millis,
        };
        // The owner of the state goes last; when it is gone, nobody needs to know.
        let _ = self
            .messages
            .send(Message::Build(self.resource.name.clone(), event));
        // After the news and beside the owner: the new process need not wait for the disk.
        if let Some(product) = product {
            let (doors, resource) = (self.session.doors.clone(), self.resource.clone());
            let write = move || generation::write(&doors, &resource, &product, stamps);
            // Without its record the same product is just built once more by the next controller.
            let _ = tokio::task::spawn_blocking(write).await;
        }
        drop(turn);
    }

    /// What is told when its task has panicked; its child must not go on unseen.
    pub(super) async fn lost(self) -> Message {
        let record = InFlight::new(&self.session, &self.resource);
        if let Some(id) = record.read() {
            procs::stop(id, GRACE).await;
            record.remove();
        }
        let event = Event::Finished {
            number: self.number,
            outcome: Outcome::Failed(FAULT.to_owned()),
            millis: 0,
        };
        Message::Build(self.resource.name, event)
    }

    async fn execute(&self, stamps: &mut Stamps) -> (Outcome, u64) {
        let doors = &self.session.doors;
        let started = doors.clock.instant();
        let log = self.session.paths.raw_log(&self.resource.name);
        let from = std::fs::metadata(&log).map_or(0, |facts| facts.len());
        let output = self.output();
        let before = Before {
            at: doors.clock.now(),
            mark: self.fixed().and_then(generation::mark),
        };
        let ended = self.child(output.as_deref(), &log).await;
        end_last_line(doors, &log);
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let outcome = match ended {
            Ok(None) => Outcome::Killed,
            Ok(Some(exit)) if exit.success() => match self.product(output.as_deref(), before).await
            {
                Ok((product, of_product)) => {
                    *stamps = of_product;
                    Outcome::Built(product)
                }
                Err(outcome) => outcome,
            },
            Ok(Some(exit)) => {
                let last = last_lines(doors, &log, from, LINES);
                Outcome::Failed(if last.is_empty() {
                    how(exit)
                } else {
                    last.join("\n")
                })
            }
            Err(message) => Outcome::Failed(message),
        };
        if let Some(output) =
            output.filter(|output| !matches!(outcome, Outcome::Built(_)) && doors.exists(output))
        {
            // What stays is removed before the next build of the same number.
            let _ = doors.remove_tree(&output);
        }
        (outcome, millis)
    }

    /// Runs the child; `None` when it was killed by us.
    async fn child(
        &self,
        output: Option<&Utf8Path>,
        log: &Utf8Path,
    ) -> Result<Option<Exit>, String> {
        let doors = &self.session.doors;
        self.prepare(output).map_err(|error| in_words(&error))?;
        end_last_line(doors, log);
        let cmd = self.command(output);
        let mut child = doors.spawn(&cmd, log).map_err(|error| in_words(&error))?;
        let record = InFlight::new(&self.session, &self.resource);
        if let Err(error) = record.write(child.id) {
            // A build that no later controller could find must not go on.
            child.stop(GRACE).await;
            return Err(in_words(&error));
        }
        let exit = tokio::select! {
            exit = child.wait() => Ok(Some(exit)),
            () = self.kill.cancelled() => {
                child.stop(GRACE).await;
                Ok(None)
            }
            () = tokio::time::sleep(LIMIT) => {
                child.stop(GRACE).await;
                Err(format!("the build did not end within {} min", LIMIT.as_secs() / 60))
            }
        };
        record.remove();
        exit
    }

    fn prepare(&self, output: Option<&Utf8Path>) -> Result<(), FileError> {
        let doors = &self.session.doors;
        for dir in &self.resource.dirs {
            doors.create_private_dir(Utf8Path::new(dir))?;
        }
        if let Some(binary) = &self.resource.binary {
            doors.create_private_dir(&live_dir(binary))?;
        }
        match output {
            Some(output) if doors.exists(output) => doors.remove_tree(output),
            _ => Ok(()),
        }
    }

    fn command(&self, output: Option<&Utf8Path>) -> Cmd {
        let output = output.map_or("", Utf8Path::as_str);
        let argv: Vec<String> = self
            .resource
            .argv
            .iter()
            .map(|word| word.replace(OUTPUT, output))
            .collect();
        let (program, words) = argv
            .split_first()
            .map_or(("", argv.as_slice()), |(first, rest)| (first, rest));
        let mut cmd = Cmd::new(program)
            .args(words)
            .cwd(self.resource.cwd.as_str())
            .clear_env();
        cmd = cmd.envs(self.session.build_env.iter());
        cmd = cmd.env("CP9_SESSION_CONTEXT", self.session.paths.facts().as_str());
        cmd = cmd.env(ENV_BUILD, &self.resource.name);
        for (name, value) in self.session.scope.env() {
            cmd = cmd.env(name, value);
        }
        cmd.envs(&self.resource.env)
    }

    fn output(&self) -> Option<Utf8PathBuf> {
        let wanted = self.resource.argv.iter().any(|word| word.contains(OUTPUT));
        let binary = self.resource.binary.as_ref().filter(|_| wanted)?;
        // Its name is no other controller's: a build of a killed one may still write.
        let name = format!("{OUTPUT_PREFIX}{}-{}", procs::own_pid(), self.number);
        Some(live_dir(binary).join(name))
    }

    /// The product's place if the build writes it always to the same one.
    fn fixed(&self) -> Option<&Utf8Path> {
        match self.output() {
            Some(_) => None,
            None => self.resource.binary.as_deref().map(Utf8Path::new),
        }
    }

    async fn product(
        &self,
        output: Option<&Utf8Path>,
        before: Before,
    ) -> Result<(Product, Stamps), Outcome> {
        let source = self.source.clone();
        let Some(binary) = self.resource.binary.clone() else {
            let product = Product {
                binary: None,
                source,
            };
            return Ok((product, Stamps::default()));
        };
        let place = output.map_or_else(|| Utf8PathBuf::from(&binary), Utf8Path::to_owned);
        let doors = self.session.doors.clone();
        let stale = self
            .check(&place, &binary, before, output.is_none())
            .map_err(Outcome::Unreplaced)?;
        let fixed = output.is_none();
        let kept = tokio::task::spawn_blocking(move || -> Result<(String, Stamps), Outcome> {
            let failed = |error: FileError| Outcome::Failed(in_words(&error));
            let hash = doors.digest(&place).map_err(failed)?;
            if stale.is_some_and(|old| old == hash) {
                return Err(Outcome::Unreplaced(left(OUTPUT)));
            }
            generation::keep_copy(&doors, &place, &binary, &hash, fixed).map_err(failed)?;
            if !fixed {
                doors
                    .rename_fleeting(&place, Utf8Path::new(&binary))
                    .map_err(failed)?;
            }
            let stamps = Stamps::of(&binary, &hash);
            Ok((hash, stamps))
        });
        let (hash, stamps) = match kept.await {
            Ok(kept) => kept?,
            Err(error) => return Err(Outcome::Failed(in_words(&error))),
        };
        let product = Product {
            binary: Some(hash),
            source,
        };
        Ok((product, stamps))
    }

    /// Refuses what is no new product for sure. What may be an old one, by its time, comes back as
    /// the hash that it must not have.
    fn check(
        &self,
        place: &Utf8Path,
        binary: &str,
        before: Before,
        fixed: bool,
    ) -> Result<Option<String>, String> {
        let name = if fixed { place.as_str() } else { OUTPUT };
        if !place.is_file() {
            return Err(format!("the build did not write `{name}`"));
        }
        if let Some(fault) = product::fault(place, self.executed) {
            return Err(fault);
        }
        let made = generation::read(&self.session.doors, binary);
        let Some(made) = made.filter(|made| made.source != self.source) else {
            return Ok(None);
        };
        if !fixed {
            let old = self.session.doors.modified(place) < Some(before.at - TIME_SLACK);
            return Ok(old.then_some(made.binary));
        }
        if before.mark.is_some() && before.mark == generation::mark(place) {
            return Err(left(name));
        }
        Ok(None)
    }
}

/// What was there before a build.
#[derive(Debug, Clone, Copy)]
struct Before {
    at: Timestamp,
    /// Of the product, where the build writes it always to the same place.
    mark: Option<(u64, i64, i64)>,
}

fn left(name: &str) -> String {
    format!("the sources changed, and the build left `{name}` as it was")
}

fn how(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("the build exited with code {code}"),
        Exit::Signal(signal) => format!("the build was killed by signal {signal}"),
    }
}

/// The record of a running build, by which the next controller finds and ends it.
#[derive(Debug, Clone)]
pub(super) struct InFlight {
    doors: Doors,
    path: Utf8PathBuf,
}

impl InFlight {
    pub(super) fn new(session: &Session, resource: &Resource) -> Self {
        let path = session
            .paths
            .run(&resource.service)
            .join(format!("build-{}.json", resource.name));
        Self {
            doors: session.doors.clone(),
            path,
        }
    }

    fn write(&self, id: ProcessId) -> Result<(), FileError> {
        if let Some(dir) = self.path.parent() {
            self.doors.create_private_dir(dir)?;
        }
        let text = serde_json::to_vec(&id).expect("an id is plain data and always serialises");
        self.doors.write_fleeting(&self.path, &text, 0o600)
    }

    fn read(&self) -> Option<ProcessId> {
        serde_json::from_slice(&self.doors.read(&self.path).ok()?).ok()
    }

    fn remove(&self) {
        // A record that stays names a dead process, which every reader checks.
        let _ = self.doors.remove_file(&self.path);
    }
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
