//! The program itself: what it prints, how it ends, and what a kill leaves behind.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hyper_util::rt::TokioIo;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A running program.
struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
    address: String,
}

impl Program {
    /// Starts it and waits until it says where it listens.
    fn start(args: &[&str]) -> Self {
        let mut child = command(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while !line.starts_with("listening on http://") {
            line.clear();
            let read = out.read_line(&mut line).expect("a line");
            assert!(read > 0, "it ended early");
        }
        let address = line
            .trim()
            .trim_start_matches("listening on http://")
            .to_owned();
        Self {
            child,
            out,
            address,
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        kill(Pid::from_raw(pid), signal).expect("it is there");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cp9-stub"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

fn output(args: &[&str]) -> Output {
    command(args).output().expect("it starts")
}

/// Posts over a connection of its own, until the other side is gone.
async fn post_until_gone(address: String, body: String) {
    loop {
        let Ok(stream) = tokio::net::TcpStream::connect(&address).await else {
            return;
        };
        let io = TokioIo::new(stream);
        let Ok((mut sender, connection)) = hyper::client::conn::http1::handshake(io).await else {
            return;
        };
        tokio::spawn(connection);
        while sender.ready().await.is_ok() {
            let request = hyper::Request::post("/v1/meter").header("host", "x");
            let request = request.body(body.clone()).expect("a request");
            if sender.send_request(request).await.is_err() {
                break;
            }
        }
    }
}

#[test]
fn signals_end_it_quickly_and_in_order() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut program = Program::start(&["--kind", "permissive"]);
        let started = Instant::now();
        program.signal(signal);
        let status = program.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0));
        assert!(started.elapsed() < Duration::from_secs(2));
        let mut rest = String::new();
        program.out.read_to_string(&mut rest).expect("the rest");
        assert_eq!(rest, "");
    }
}

#[test]
fn what_it_cannot_serve_ends_it_with_the_reason() {
    let missing = output(&["--definition", "/nowhere/api.yaml"]);
    assert_eq!(missing.status.code(), Some(3));
    let told = String::from_utf8(missing.stderr).expect("UTF-8");
    assert!(
        told.starts_with("error: cannot read definition `/nowhere/api.yaml`\ncaused by: "),
        "{told}"
    );
    assert!(told.contains("\nhint: "), "{told}");
    let unknown = output(&["--port", "80"]);
    assert_eq!(unknown.status.code(), Some(64));
    assert_eq!(output(&["--help"]).status.code(), Some(0));
}

#[test]
fn a_killed_recorder_leaves_whole_lines_and_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("payloads.jsonl");
    let args = [
        "--kind",
        "metering-recorder",
        "--output",
        path.to_str().expect("UTF-8"),
    ];
    let body = format!("{{\"filling\":\"{}\"}}", "x".repeat(20_000));
    let count = || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        text.matches('\n').count()
    };
    let mut kept = 0;
    for _ in 0..3 {
        let program = Program::start(&args);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        for _ in 0..8 {
            runtime.spawn(post_until_gone(program.address.clone(), body.clone()));
        }
        let started = Instant::now();
        while count() < kept + 20 {
            assert!(
                started.elapsed() < Duration::from_secs(30),
                "nothing is recorded"
            );
            std::thread::yield_now();
        }
        program.signal(Signal::SIGKILL);
        drop(program);
        runtime.shutdown_background();
        kept = count();
    }
    // A write that the system itself cut short, which no kill does at will.
    let mut torn = std::fs::read(&path).expect("a recording");
    torn.extend_from_slice(b"{\"time\":\"20");
    std::fs::write(&path, torn).expect("it is written");
    let program = Program::start(&args);
    drop(program);
    let text = std::fs::read_to_string(&path).expect("a recording");
    assert!(text.ends_with('\n'));
    let whole = text.lines().map(serde_json::from_str::<Value>);
    assert!(
        whole
            .clone()
            .all(|line| line.is_ok_and(|line| line["body"]["filling"].is_string()))
    );
    assert_eq!(whole.count(), kept);
}
