//! A program whose output goes straight to a file that we read along: when we die it goes on, and another
//! run finds it and reads on. It is asked to end by an interrupt, as from a terminal.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::time::{Instant, sleep, sleep_until};

use crate::Doors;
use crate::lines::RedactingLines;
use crate::procs::{self, ProcessId, Signal};
use crate::program::{Child, Cmd, Exit, ProgramError};

/// Pause between two looks at the file.
const LOOK_EVERY: Duration = Duration::from_millis(40);
/// How long a killed program may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(5);
/// The most that is read at once.
const CHUNK: usize = 64 * 1024;

/// How long a followed program may run, and how long it may take to end after the interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The whole run.
    pub run: Duration,
    /// From the interrupt to the kill.
    pub grace: Duration,
}

/// How a followed program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowEnd {
    /// By itself.
    Exit(Exit),
    /// By itself; it was no child of ours, so nobody can say how.
    Gone,
    /// Because we were cancelled; true if it ended within the grace.
    Interrupted(bool),
    /// Because its time was up; true if it ended within the grace.
    TimedOut(bool),
}

/// A program that runs and writes to a file.
#[derive(Debug)]
pub struct Followed {
    /// Which process.
    pub id: ProcessId,
    log: Utf8PathBuf,
    child: Option<Child>,
}

impl Doors {
    /// Starts a program that outlives us; both outputs are appended to the file.
    pub fn start_followed(&self, cmd: &Cmd, log: &Utf8Path) -> Result<Followed, ProgramError> {
        let child = self.spawn(cmd, log)?;
        Ok(Followed {
            id: child.id,
            log: log.to_owned(),
            child: Some(child),
        })
    }

    /// Takes over a program that an earlier run started; none if it has ended.
    pub fn find_followed(&self, id: ProcessId, log: &Utf8Path) -> Option<Followed> {
        procs::is_alive(id).then(|| Followed {
            id,
            log: log.to_owned(),
            child: None,
        })
    }
}

impl Followed {
    /// Hands on each line of the file, clean and redacted, until the program has ended. Dropping the
    /// future leaves it running.
    pub async fn to_end(
        mut self,
        doors: &Doors,
        limits: Limits,
        sink: &mut dyn FnMut(&str),
    ) -> FollowEnd {
        let mut reader = Reader::new(doors, self.log.clone());
        let end = self.wait(doors, limits, &mut reader, sink).await;
        reader.read(sink);
        reader.lines.finish(&mut |line| sink(line));
        end
    }

    async fn wait(
        &mut self,
        doors: &Doors,
        limits: Limits,
        reader: &mut Reader,
        sink: &mut dyn FnMut(&str),
    ) -> FollowEnd {
        let due = Instant::now() + limits.run;
        loop {
            tokio::select! {
                end = self.ended() => return end,
                () = sleep(LOOK_EVERY) => reader.read(sink),
                () = doors.cancel.cancelled() => {
                    return FollowEnd::Interrupted(self.stop(limits.grace, reader, sink).await);
                }
                () = sleep_until(due) => {
                    return FollowEnd::TimedOut(self.stop(limits.grace, reader, sink).await);
                }
            }
        }
    }

    async fn ended(&mut self) -> FollowEnd {
        if let Some(child) = &mut self.child {
            return FollowEnd::Exit(child.wait().await);
        }
        while procs::is_alive(self.id) {
            sleep(LOOK_EVERY).await;
        }
        FollowEnd::Gone
    }

    /// One interrupt, since a second one makes programs drop what they hold; then the grace, then the kill.
    async fn stop(
        &mut self,
        grace: Duration,
        reader: &mut Reader,
        sink: &mut dyn FnMut(&str),
    ) -> bool {
        procs::signal_group(self.id, Signal::Int);
        let due = Instant::now() + grace;
        loop {
            tokio::select! {
                _ = self.ended() => return true,
                () = sleep(LOOK_EVERY) => reader.read(sink),
                () = sleep_until(due) => break,
            }
        }
        procs::signal_group(self.id, Signal::Kill);
        // It is killed already; how long the system takes to say so changes nothing.
        let _ = tokio::time::timeout(KILL_TIME, self.ended()).await;
        false
    }
}

/// Reads along a growing file.
struct Reader {
    path: Utf8PathBuf,
    at: u64,
    lines: RedactingLines,
}

impl Reader {
    fn new(doors: &Doors, path: Utf8PathBuf) -> Self {
        Self {
            path,
            at: 0,
            lines: RedactingLines::new(doors.redactor.clone()),
        }
    }

    fn read(&mut self, sink: &mut dyn FnMut(&str)) {
        // A file that cannot be read has nothing to tell; the program's end decides.
        let Ok(mut file) = std::fs::File::open(&self.path) else {
            return;
        };
        if file.seek(SeekFrom::Start(self.at)).is_err() {
            return;
        }
        let mut buffer = vec![0; CHUNK];
        while let Ok(read @ 1..) = file.read(&mut buffer) {
            self.at += read as u64;
            self.lines.push(&buffer[..read], &mut |line| sink(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Environment};

    const LIMITS: Limits = Limits {
        run: Duration::from_secs(20),
        grace: Duration::from_secs(5),
    };

    struct Place {
        _dir: tempfile::TempDir,
        log: Utf8PathBuf,
        doors: Doors,
    }

    fn place() -> Place {
        let dir = tempfile::tempdir().expect("a folder");
        let log = Utf8Path::from_path(dir.path()).expect("UTF-8").join("log");
        let env = Environment::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Place {
            _dir: dir,
            log,
            doors: Doors::new(env, Clock::system(), false),
        }
    }

    fn start(place: &Place, script: &str) -> Followed {
        let cmd = Cmd::new("sh").args(["-c", script]);
        place
            .doors
            .start_followed(&cmd, &place.log)
            .expect("started")
    }

    async fn follow(place: &Place, followed: Followed, limits: Limits) -> (FollowEnd, Vec<String>) {
        let mut lines = Vec::new();
        let end = followed
            .to_end(&place.doors, limits, &mut |line| {
                lines.push(line.to_owned());
            })
            .await;
        (end, lines)
    }

    #[tokio::test]
    async fn every_line_is_handed_on_and_the_exit_told() {
        let place = place();
        let followed = start(&place, "echo one; echo two >&2; printf three; exit 3");
        let (end, lines) = follow(&place, followed, LIMITS).await;
        assert_eq!(end, FollowEnd::Exit(Exit::Code(3)));
        assert_eq!(lines, ["one", "two", "three"]);
    }

    #[tokio::test]
    async fn it_is_interrupted_first_and_may_finish() {
        let place = place();
        let script = "trap 'echo saved; exit 0' INT; echo up; while :; do sleep 0.02; done";
        let followed = start(&place, script);
        let cancel = place.doors.cancel.clone();
        let mut lines = Vec::new();
        let end = followed
            .to_end(&place.doors, LIMITS, &mut |line| {
                lines.push(line.to_owned());
                cancel.cancel();
            })
            .await;
        assert_eq!(end, FollowEnd::Interrupted(true));
        assert_eq!(lines, ["up", "saved"]);
    }

    #[tokio::test]
    async fn what_does_not_end_is_killed_after_the_grace() {
        let place = place();
        let followed = start(&place, "trap '' INT; while :; do sleep 0.02; done");
        let id = followed.id;
        let limits = Limits {
            run: Duration::from_millis(60),
            grace: Duration::from_millis(60),
        };
        let (end, _) = follow(&place, followed, limits).await;
        assert_eq!(end, FollowEnd::TimedOut(false));
        assert!(!procs::is_alive(id));
    }

    #[tokio::test]
    async fn a_later_run_reads_from_the_beginning_and_waits() {
        let place = place();
        let gate = place.log.with_extension("gate");
        let script = format!("echo one; while ! test -e {gate}; do sleep 0.01; done; echo two");
        let followed = start(&place, &script);
        let id = followed.id;
        drop(followed);
        let again = place.doors.find_followed(id, &place.log).expect("it runs");
        let mut lines = Vec::new();
        let end = again
            .to_end(&place.doors, LIMITS, &mut |line| {
                lines.push(line.to_owned());
                place.doors.write_atomic(&gate, b"", 0o600).expect("opened");
            })
            .await;
        assert_eq!(end, FollowEnd::Gone);
        assert_eq!(lines, ["one", "two"]);
        assert!(place.doors.find_followed(id, &place.log).is_none());
    }
}
