//! Runs a program to its end or in the background, and holds what came of it.

use std::collections::BTreeMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use serde_json::Value;

use crate::capture::Capture;
use crate::normalise::Normaliser;

/// How long a run may take if nobody says otherwise: compilers run under a full load of tests.
pub const LIMIT: Duration = Duration::from_mins(2);
/// How long the streams of an ended program may stay open.
const STREAM_GRACE: Duration = Duration::from_secs(5);

/// A program about to be run.
#[derive(Debug, Clone)]
#[must_use = "nothing is run before `run` or `spawn`"]
pub struct Invocation {
    program: Utf8PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Utf8PathBuf,
    limit: Duration,
    normaliser: Normaliser,
}

impl Invocation {
    /// A program with exactly this environment, in this folder.
    pub fn new(
        program: &Utf8Path,
        cwd: &Utf8Path,
        env: BTreeMap<String, String>,
        normaliser: Normaliser,
    ) -> Self {
        let (program, cwd) = (program.to_owned(), cwd.to_owned());
        Self {
            program,
            args: Vec::new(),
            env,
            cwd,
            limit: LIMIT,
            normaliser,
        }
    }

    /// Adds arguments.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    pub fn env(mut self, key: &str, value: impl Into<String>) -> Self {
        self.env.insert(key.to_owned(), value.into());
        self
    }

    /// Takes a variable away.
    pub fn without_env(mut self, key: &str) -> Self {
        self.env.remove(key);
        self
    }

    /// Runs it in another folder.
    pub fn cwd(mut self, cwd: impl Into<Utf8PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Gives it another time limit.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it to its end; panics when the limit is over first.
    #[track_caller]
    pub fn run(self) -> Run {
        let limit = self.limit;
        self.spawn().wait(limit)
    }

    /// Starts it, in a process group of its own, with nothing to read.
    #[track_caller]
    pub fn spawn(self) -> Background {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.cwd);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let started = Instant::now();
        let mut child = command
            .spawn()
            .unwrap_or_else(|err| panic!("cannot start {}: {err}", self.program));
        let name = self.program.file_name().unwrap_or("?").to_owned();
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid fits"));
        Background {
            command: [vec![name], self.args].concat().join(" "),
            stdout: Capture::of(child.stdout.take().expect("a pipe")),
            stderr: Capture::of(child.stderr.take().expect("a pipe")),
            ended: announce_end(pid),
            child,
            pid,
            started,
            normaliser: self.normaliser,
        }
    }
}

/// Tells when the process has ended, and leaves it unreaped: until its owner reaps it, its pid
/// belongs to no other process, so that signals cannot go astray.
fn announce_end(pid: Pid) -> Receiver<Instant> {
    let (ended_tx, ended_rx) = mpsc::channel();
    thread::spawn(move || {
        while waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)
            == Err(nix::Error::EINTR)
        {}
        let _ = ended_tx.send(Instant::now());
    });
    ended_rx
}

/// A running program; killed when it is dropped.
#[derive(Debug)]
pub struct Background {
    command: String,
    child: Child,
    pid: Pid,
    stdout: Capture,
    stderr: Capture,
    ended: Receiver<Instant>,
    started: Instant,
    normaliser: Normaliser,
}

impl Background {
    /// Its process id.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Sends it a signal; to it alone, not to its group.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid, signal)
            .unwrap_or_else(|err| panic!("cannot signal `{}`: {err}", self.command));
    }

    /// What Ctrl-C sends.
    pub fn interrupt(&self) {
        self.signal(Signal::SIGINT);
    }

    /// What a polite `kill` sends.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// What nobody can refuse.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// Standard output so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits for a line on standard output that fits.
    #[track_caller]
    pub fn wait_stdout(&self, limit: Duration, what: &str, fits: impl Fn(&str) -> bool) -> String {
        self.stdout
            .wait_line(limit, fits)
            .unwrap_or_else(|| self.complain(&format!("printed no line with {what}")))
    }

    /// Waits for a line on standard error that fits.
    #[track_caller]
    pub fn wait_stderr(&self, limit: Duration, what: &str, fits: impl Fn(&str) -> bool) -> String {
        self.stderr
            .wait_line(limit, fits)
            .unwrap_or_else(|| self.complain(&format!("reported no line with {what}")))
    }

    /// Waits for its end; panics when the limit is over first, or when something that it left
    /// behind holds its output open (a shell's `$(…)` would hang on that).
    #[track_caller]
    pub fn wait(mut self, limit: Duration) -> Run {
        let Ok(ended) = self.ended.recv_timeout(limit) else {
            self.complain(&format!("did not end within {limit:?}"));
        };
        if !(self.stdout.wait_end(STREAM_GRACE) && self.stderr.wait_end(STREAM_GRACE)) {
            self.complain("ended, but something else holds its output open");
        }
        let status = self.child.wait().expect("an ended child can be reaped");
        Run {
            command: self.command.clone(),
            stdout: self.stdout.text(),
            stderr: self.stderr.text(),
            code: status.code(),
            signal: status.signal(),
            millis: ended.duration_since(self.started).as_millis(),
            normaliser: self.normaliser.clone(),
        }
    }

    #[track_caller]
    fn complain(&self, what: &str) -> ! {
        panic!(
            "`{}` {what}\n{}\n--- stderr ---\n{}",
            self.command,
            self.stdout(),
            self.stderr()
        )
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a program.
#[derive(Debug, Clone)]
pub struct Run {
    /// Name and arguments.
    pub command: String,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran.
    pub millis: u128,
    normaliser: Normaliser,
}

impl Run {
    /// Panics with everything that was printed if the exit code is another.
    #[track_caller]
    #[expect(
        clippy::return_self_not_must_use,
        reason = "often the last word on a run"
    )]
    pub fn assert_code(self, code: i32) -> Self {
        assert!(
            self.code == Some(code),
            "`{}` should exit {code}\n{}",
            self.command,
            self.raw()
        );
        self
    }

    /// Standard output as exactly one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|err| panic!("`{}`: {err}\n{}", self.command, self.raw()))
    }

    /// The `data` of the JSON envelope on standard output.
    #[track_caller]
    pub fn data(&self) -> Value {
        self.json()["data"].take()
    }

    /// Standard output as one JSON value a line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|err| panic!("`{}`: {err} in {line}", self.command))
        };
        self.stdout.lines().map(parse).collect()
    }

    /// Standard output, standard error and the end as one text, with everything accidental
    /// taken out.
    pub fn snapshot(&self) -> String {
        self.normaliser.apply(&self.raw())
    }

    fn raw(&self) -> String {
        let mut text = self.stdout.clone();
        let mut line = |line: &str| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(line);
        };
        line("--- stderr ---\n");
        line(&self.stderr);
        line(&match (self.code, self.signal) {
            (Some(code), _) => format!("--- exit {code} ---\n"),
            (None, signal) => format!("--- signal {} ---\n", signal.unwrap_or(0)),
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Invocation {
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Invocation::new("/bin/sh".into(), "/".into(), env, Normaliser::new()).args(["-c", script])
    }

    fn message(panics: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let payload = std::panic::catch_unwind(panics).expect_err("it panics");
        payload.downcast_ref::<String>().expect("a message").clone()
    }

    #[test]
    fn one_text_for_output_errors_and_exit() {
        let run = shell("echo pid 12; echo oops >&2; exit 3").run();
        assert_eq!(
            run.snapshot(),
            "pid [PID]\n--- stderr ---\noops\n--- exit 3 ---\n"
        );
        let run = shell("printf 'no end'; kill -9 $$").run();
        assert_eq!(run.snapshot(), "no end\n--- stderr ---\n--- signal 9 ---\n");
        assert_eq!((run.code, run.signal), (None, Some(9)));
    }

    #[test]
    fn the_environment_is_what_was_given() {
        let run = shell("echo $A-$B-$HOME")
            .env("A", "1")
            .env("B", "2")
            .without_env("B")
            .run();
        assert_eq!(run.stdout, "1--\n");
        assert_eq!(shell("pwd").cwd("/usr").run().stdout, "/usr\n");
        assert_eq!(shell("cat").run().stdout, "", "there is nothing to read");
    }

    #[test]
    fn json_of_a_run() {
        let run = shell(r#"echo '{"data":{"a":1}}'"#).run().assert_code(0);
        assert_eq!(run.data()["a"], 1);
        assert_eq!(shell("echo 1; echo 2").run().json_lines(), [1, 2]);
        assert!(message(|| drop(shell("echo no").run().json())).contains("--- exit 0 ---"));
        assert!(message(|| drop(shell("echo why; exit 1").run().assert_code(0))).contains("why"));
    }

    #[test]
    fn a_background_run_takes_signals() {
        let running =
            shell("trap 'echo caught; exit 7' INT; echo ready; while :; do :; done").spawn();
        running.wait_stdout(SOON, "`ready`", |line| line == "ready");
        running.interrupt();
        let run = running.wait(SOON);
        assert_eq!(
            (run.stdout.as_str(), run.code),
            ("ready\ncaught\n", Some(7))
        );
    }

    #[test]
    fn complaints_show_the_output() {
        let text = message(|| {
            let looping = shell("echo here; while :; do :; done");
            let _run = looping.limit(Duration::from_millis(300)).run();
        });
        assert!(text.contains("did not end within 300ms\nhere"), "{text}");
        let text = message(|| {
            let running = shell("echo other").spawn();
            running.wait_stdout(SOON, "`this`", |line| line == "this");
        });
        assert!(
            text.contains("printed no line with `this`\nother"),
            "{text}"
        );
    }

    #[test]
    fn a_dropped_background_run_is_gone() {
        let running = shell("echo ready; while :; do :; done").spawn();
        running.wait_stdout(SOON, "`ready`", |line| line == "ready");
        let pid = running.pid;
        drop(running);
        assert_eq!(kill(pid, None), Err(nix::Error::ESRCH));
    }
}
