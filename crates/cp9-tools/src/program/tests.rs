//! Programs run, fail, hang and are ended.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the programs that they run"
)]

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain};

use super::*;
use crate::procs::{self, ProcessId};
use crate::{Clock, Doors, Environment, Secret};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(60);

fn doors() -> Doors {
    let env = Environment::new([
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("CARGO_HOME".to_owned(), "/c".to_owned()),
        ("CARGO_X".to_owned(), "x".to_owned()),
        ("KEPT".to_owned(), "kept".to_owned()),
    ]);
    Doors::new(env, Clock::system(), false)
}

fn sh(script: &str) -> Cmd {
    Cmd::new("sh").arg("-c").arg(script).timeout(LONG)
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().to_owned();
    (folder, path)
}

fn script(folder: &Utf8Path, name: &str, text: &str, mode: u32) -> Utf8PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

async fn fails(cmd: &Cmd) -> ProgramError {
    doors().run(cmd).await.unwrap_err()
}

/// The process that printed its pid.
fn printed(pid: &str) -> ProcessId {
    procs::identify(pid.trim().parse().unwrap()).unwrap_or(ProcessId {
        pid: 0,
        start_time: 0,
    })
}

async fn assert_gone(id: ProcessId) {
    assert!(procs::wait_gone(id, LONG).await, "{id:?} still runs");
}

#[tokio::test]
async fn output_and_code_are_told_apart() {
    let output = doors()
        .run(&sh("echo out; echo err >&2; exit 3"))
        .await
        .unwrap();
    assert_eq!(output.status, Exit::Code(3));
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("out\n", "err\n")
    );
    assert!(!output.success() && !output.truncated);
    let error = output.checked().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`sh -c 'echo out; echo err >&2; exit 3'` failed with exit code 3\n  err"
    );
    assert_eq!(
        (error.category(), error.code()),
        (Category::Permanent, "program-failed")
    );
    let killed = doors().run(&sh("kill -9 $$")).await.unwrap();
    assert_eq!(killed.status, Exit::Signal(9));
    assert!(
        killed
            .checked()
            .unwrap_err()
            .to_string()
            .ends_with("was ended by signal SIGKILL")
    );
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let error = fails(&Cmd::new("no-such-program-here")).await;
    assert!(matches!(error.ended, Ended::NotFound), "{error:?}");
    assert_eq!(error.category(), Category::Config);
    assert_eq!(
        error.to_string(),
        "program `no-such-program-here` not found"
    );
    assert_eq!(
        error.remedy().as_deref(),
        Some("install no-such-program-here or put it on PATH")
    );
    assert!(matches!(fails(&Cmd::new("")).await.ended, Ended::NotFound));
    assert!(matches!(
        fails(&sh("").env("PATH", "")).await.ended,
        Ended::NotFound
    ));
    let error = fails(&sh("true").cwd("/no/such/folder")).await;
    assert!(matches!(error.ended, Ended::CwdMissing), "{error:?}");
    assert!(
        error.to_string().ends_with("in `/no/such/folder`"),
        "{error}"
    );
}

#[tokio::test]
async fn what_cannot_be_executed_is_named() {
    let (_guard, folder) = folder();
    script(&folder, "plain", "#!/bin/sh\n", 0o644);
    script(&folder, "lost", "#!/no/such/interpreter\n", 0o755);
    script(&folder, "noise", "\u{1}\u{2}\0\0", 0o755);
    let found = |name: &str| Cmd::new(name).env("PATH", folder.as_str());
    for cmd in [
        found("plain"),
        found("lost"),
        found("noise"),
        Cmd::new("./plain").cwd(&*folder),
        Cmd::new(folder.join("plain").as_str()),
    ] {
        let error = fails(&cmd).await;
        assert!(matches!(error.ended, Ended::NotExecutable), "{error:?}");
    }
}

#[tokio::test]
async fn programs_come_from_the_path_of_the_command() {
    let (_guard, folder) = folder();
    script(&folder, "mine", "#!/bin/sh\necho mine\n", 0o755);
    let cmds = [
        Cmd::new("mine").env("PATH", format!("{folder}:/bin")),
        Cmd::new("./mine").cwd(&*folder),
    ];
    for cmd in cmds {
        assert_eq!(doors().run(&cmd).await.unwrap().stdout, "mine\n");
    }
}

#[tokio::test]
async fn bytes_that_no_program_can_get_are_an_error() {
    let error = fails(&Cmd::new("echo").arg("a\0b")).await;
    assert!(matches!(error.ended, Ended::System(_)), "{error:?}");
    let error = fails(&Cmd::new("echo").args(vec!["x".repeat(1 << 17); 64])).await;
    assert!(matches!(error.ended, Ended::System(_)), "{:?}", error.ended);
    assert!(error.to_string().len() < 1000);
}

#[test]
fn without_a_runtime_nothing_panics() {
    let (_guard, folder) = folder();
    let error = doors().spawn(&sh("true"), &folder.join("log")).unwrap_err();
    assert!(matches!(error.ended, Ended::System(_)), "{error:?}");
}

#[tokio::test]
async fn environment_is_what_was_asked_for() {
    let env = |cmd: Cmd| async move { doors().run(&cmd).await.unwrap().stdout };
    let all = env(Cmd::new("env")
        .remove_env("CARGO_*")
        .env("CARGO_HOME", "mine"))
    .await;
    assert!(
        all.contains("KEPT=kept\n") && all.contains("CARGO_HOME=mine\n"),
        "{all}"
    );
    assert!(!all.contains("CARGO_X"), "{all}");
    let secret = Secret::new("hunter22");
    let cmd = Cmd::new("/usr/bin/env")
        .clear_env()
        .env("A", "1")
        .secret_env("TOKEN", &secret);
    assert_eq!(cmd.variables()["TOKEN"], "***");
    assert!(!format!("{cmd:?}").contains("hunter22"));
    assert_eq!(env(cmd).await, "A=1\nTOKEN=hunter22\n");
}

#[tokio::test]
async fn secrets_do_not_reach_errors_lines_or_records() {
    let (_guard, folder) = folder();
    let doors = doors();
    let log = folder.join("calls.jsonl");
    doors.recorder.to_file(log.clone());
    let cmd = sh("echo said $1 >&2; echo $1; exit 1")
        .arg("x")
        .secret_arg(&Secret::new("hunter22"));
    let output = doors.run(&cmd).await.unwrap();
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("hunter22\n", "said ***\n")
    );
    let mut said = Vec::new();
    let streamed = doors
        .run_lines(&cmd, &mut |_, line: &str| said.push(line.to_owned()))
        .await;
    said.sort();
    assert_eq!(said, ["***", "said ***"]);
    assert_eq!(streamed.unwrap().stdout, "***\n");
    let quiet = doors
        .run(
            &sh("echo $1; exit 1")
                .arg("x")
                .secret_arg(&Secret::new("hunter22")),
        )
        .await;
    let error = quiet.unwrap().checked().unwrap_err();
    let shown = format!("{error} {error:?} {:?}", error.argv());
    assert!(
        shown.contains("***") && !shown.contains("hunter22"),
        "{shown}"
    );
    let record = std::fs::read_to_string(log).unwrap();
    assert_eq!(record.lines().count(), 3);
    assert!(!record.contains("hunter22"), "{record}");
}

#[tokio::test]
async fn lines_come_clean_and_in_order() {
    let mut said = Vec::new();
    let cmd = sh(r"printf '1\r2\n\033[31mred\033[0m\n\377\nend'; printf 'e\n' >&2");
    let sink: &mut dyn FnMut(StreamKind, &str) = &mut |kind, line: &str| {
        said.push((kind, line.to_owned()));
    };
    let output = doors().run_lines(&cmd, sink).await.unwrap();
    let out: Vec<&str> = said
        .iter()
        .filter(|(kind, _)| *kind == StreamKind::Stdout)
        .map(|(_, line)| line.as_str())
        .collect();
    assert_eq!(out, ["2", "red", "\u{fffd}", "end"]);
    assert_eq!(output.stderr, "e\n");
}

#[tokio::test]
async fn output_is_bounded() {
    let flood = "yes abcdefghi | head -n 200000; yes xyz | head -n 200000 >&2";
    let output = doors().run(&sh(flood).output_cap(1000)).await.unwrap();
    assert_eq!((output.stdout.len(), output.truncated), (1000, true));
    assert!(output.stderr.len() <= 1000 && output.stderr.ends_with("xyz\n"));
    let mut lines = 0_u32;
    let cmd = sh(flood);
    let output = doors()
        .run_lines(&cmd, &mut |_, _: &str| lines += 1)
        .await
        .unwrap();
    assert_eq!(lines, 400_000);
    assert!(output.truncated && output.stdout.lines().count() < 1000);
}

#[tokio::test]
async fn there_is_no_input() {
    assert_eq!(doors().run(&sh("cat")).await.unwrap().stdout, "");
}

#[tokio::test]
async fn too_slow_a_program_is_ended_with_its_group() {
    let stubborn = sh("trap '' TERM; sleep 300 & echo $!; while :; do sleep 0.01; done");
    let mut child = String::new();
    let cmd = stubborn.timeout(Duration::from_secs(1)).grace(SHORT);
    let result = doors()
        .run_lines(&cmd, &mut |_, line: &str| child = line.to_owned())
        .await;
    let error = result.unwrap_err();
    assert!(matches!(error.ended, Ended::TimedOut(_)), "{error:?}");
    assert_eq!(error.category(), Category::Transient);
    assert!(
        error.to_string().contains("took longer than 1 s"),
        "{error}"
    );
    assert_gone(printed(&child)).await;
}

#[tokio::test]
async fn limits_beyond_measure_are_none() {
    let cmd = sh("true").timeout(Duration::MAX).grace(Duration::MAX);
    assert!(doors().run(&cmd).await.unwrap().success());
}

#[tokio::test]
async fn an_interrupted_program_may_say_good_bye() {
    let doors = doors();
    let cancel = doors.cancel.clone();
    let mut said = Vec::new();
    let cmd = sh("trap 'echo bye; exit 3' TERM; echo hi; while :; do sleep 0.01; done");
    let mut sink = |_: StreamKind, line: &str| {
        // Shells tell of the signal too.
        if line != "Terminated" {
            said.push(line.to_owned());
        }
        cancel.cancel();
    };
    let error = doors.run_lines(&cmd, &mut sink).await.unwrap_err();
    assert!(error.is_interrupted(), "{error:?}");
    assert_eq!(said, ["hi", "bye"]);
    let error = doors.run(&sh("true")).await.unwrap_err();
    assert!(error.is_interrupted(), "nothing starts after that");
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_us() {
    let started = Instant::now();
    let output = doors().run(&sh("sleep 300 & echo $!")).await.unwrap();
    assert!(started.elapsed() < LONG);
    assert!(output.success());
    assert_gone(printed(&output.stdout)).await;
}

#[tokio::test]
async fn a_run_that_is_given_up_ends_its_group() {
    let (pid_tx, mut pid_rx) = tokio::sync::mpsc::unbounded_channel();
    let doors = doors();
    let cmd = sh("sleep 300 & echo $!; wait");
    let mut sink = |_: StreamKind, line: &str| pid_tx.send(line.to_owned()).unwrap();
    let pid = tokio::select! {
        _ = doors.run_lines(&cmd, &mut sink) => None,
        pid = pid_rx.recv() => pid,
    };
    assert_gone(printed(&pid.unwrap())).await;
}

#[tokio::test]
async fn spawned_children_write_to_their_own_file() {
    let (_guard, folder) = folder();
    let log = folder.join("log");
    let doors = doors();
    for _ in 0..2 {
        let mut child = doors
            .spawn(&sh("echo out; echo err >&2; cat; exit 4"), &log)
            .unwrap();
        assert_ne!(child.id.start_time, 0);
        assert_eq!(child.wait().await, Exit::Code(4));
        assert_eq!(child.wait().await, Exit::Code(4));
        assert_eq!(child.stop(SHORT).await, Exit::Code(4));
    }
    assert_eq!(
        std::fs::read_to_string(&log).unwrap(),
        "out\nerr\nout\nerr\n"
    );
    assert_eq!(
        std::fs::metadata(&log).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let error = doors
        .spawn(&sh("true"), &folder.join("no/log"))
        .unwrap_err();
    assert!(matches!(error.ended, Ended::Log(..)), "{error:?}");
}

#[tokio::test]
async fn a_stopped_child_goes_with_its_group() {
    let (_guard, folder) = folder();
    let log = folder.join("log");
    for trap in ["trap '' TERM;", ""] {
        std::fs::write(&log, "").unwrap();
        let script = format!("{trap} sleep 300 & echo $!; wait; sleep 300");
        let mut child = doors().spawn(&sh(&script), &log).unwrap();
        let pid = procs::tests::eventually(|| {
            let text = std::fs::read_to_string(&log).unwrap();
            text.ends_with('\n').then_some(text)
        })
        .await;
        let grandchild = printed(&pid);
        assert!(matches!(child.stop(SHORT).await, Exit::Signal(_)));
        assert!(!procs::is_alive(child.id));
        assert_gone(grandchild).await;
    }
}

#[tokio::test]
async fn what_a_child_leaves_behind_is_ended() {
    let (_guard, folder) = folder();
    let log = folder.join("log");
    let mut child = doors().spawn(&sh("sleep 300 & echo $!"), &log).unwrap();
    assert_eq!(child.wait().await, Exit::Code(0));
    assert_gone(printed(&std::fs::read_to_string(&log).unwrap())).await;
}

#[tokio::test]
async fn a_dropped_child_runs_on() {
    let (_guard, folder) = folder();
    let child = doors()
        .spawn(&sh("exec sleep 300"), &folder.join("log"))
        .unwrap();
    let id = child.id;
    drop(child);
    assert!(procs::is_alive(id));
    assert!(procs::stop(id, LONG).await);
}

#[tokio::test]
async fn a_detached_program_leads_its_own_session() {
    let (_guard, folder) = folder();
    let log = folder.join("log");
    let id = doors()
        .spawn_detached(&sh("echo hi; exec sleep 300"), &log)
        .unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(id.pid).unwrap());
    assert_eq!(nix::unistd::getsid(Some(pid)), Ok(pid));
    assert!(procs::is_alive(id));
    procs::tests::eventually(|| (std::fs::read_to_string(&log).unwrap() == "hi\n").then_some(()))
        .await;
    assert!(procs::stop(id, LONG).await);
    assert!(!procs::is_alive(id));
}

#[tokio::test]
async fn a_program_written_a_moment_ago_runs() {
    let (_guard, folder) = folder();
    let doors = doors();
    let done = std::sync::atomic::AtomicBool::new(false);
    let results = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let ran = std::process::Command::new("true").status();
                assert!(ran.is_ok_and(|status| status.success()));
            }
        });
        let program = folder.join("fresh");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let results = std::thread::scope(|inner| {
            let rounds = || {
                let runtime = runtime.unwrap();
                (0..40)
                    .map(|_| {
                        doors
                            .copy_atomic("/bin/true".into(), &program, 0o755)
                            .unwrap();
                        runtime.block_on(doors.run(&Cmd::new(program.as_str())))
                    })
                    .collect::<Vec<_>>()
            };
            inner.spawn(rounds).join()
        });
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        results
    });
    for result in results.unwrap() {
        assert!(result.unwrap().success());
    }
}

/// The other process: starts a child that writes to the path that it reads, and waits.
#[tokio::test]
#[ignore = "started by another test"]
async fn other_process() {
    let mut log = String::new();
    std::io::stdin().read_line(&mut log).unwrap();
    if log.trim().is_empty() {
        return;
    }
    let cmd = sh("echo one; read line; echo two; exec sleep 300");
    let child = doors().spawn(&cmd, log.trim().into()).unwrap();
    println!("\nchild {}", child.id.pid);
    std::io::stdin().read_line(&mut log).unwrap();
}

#[tokio::test]
async fn children_outlive_us_when_we_are_killed() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let (_guard, folder) = folder();
    let log = folder.join("log");
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "program::tests::other_process",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(other.stdin.as_mut().unwrap(), "{log}").unwrap();
    let mut said = BufReader::new(other.stdout.as_mut().unwrap()).lines();
    let pid = said
        .find_map(|line| line.unwrap().strip_prefix("child ").map(str::to_owned))
        .unwrap();
    let child = printed(&pid);
    other.kill().unwrap();
    other.wait().unwrap();
    let text = || std::fs::read_to_string(&log).unwrap();
    procs::tests::eventually(|| (text() == "one\ntwo\n").then_some(())).await;
    assert!(procs::is_alive(child));
    assert!(procs::stop(child, LONG).await);
}

#[tokio::test]
async fn a_group_has_its_grace_when_its_leader_is_gone() {
    let (_guard, folder) = folder();
    let log = folder.join("log");
    let script =
        "sh -c 'trap \"echo bye; exit\" TERM; echo hi; while :; do sleep 0.01; done' & wait";
    let mut child = doors().spawn(&sh(script), &log).unwrap();
    // Shells tell of the signal too.
    let text = || {
        let text = std::fs::read_to_string(&log).unwrap();
        text.replace("Terminated\n", "")
    };
    procs::tests::eventually(|| (text() == "hi\n").then_some(())).await;
    child.stop(LONG).await;
    assert_eq!(text(), "hi\nbye\n");
    let child = doors().spawn(&sh(script), &log).unwrap();
    procs::tests::eventually(|| text().ends_with("hi\n").then_some(())).await;
    let id = child.id;
    let forget = tokio::spawn(async move { { child }.wait().await });
    assert!(procs::stop(id, LONG).await);
    forget.await.unwrap();
    assert_eq!(text(), "hi\nbye\nhi\nbye\n");
}
