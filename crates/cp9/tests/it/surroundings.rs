//! What surrounds a command: open files of its caller, links to its folder, a controller that is on its way
//! out.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use cp9_testkit::{Signal, http_get, wait_until};

use crate::prebuilt::{self, CP9};

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn a_session_does_not_keep_the_open_files_of_its_caller() {
    let sandbox = prebuilt::quickstart();
    // Descriptor 3 is the test's own pipe: waiting for the shell fails while anybody else holds it.
    let run =
        sandbox
            .program("/bin/sh")
            .args(["-c", "exec 3>&1; exec \"$0\" up >/dev/null 2>&1", CP9]);
    run.limit(LIMIT).run().assert_code(0);
    let pid = sandbox.status()["controller"]["pid"]
        .as_u64()
        .expect("a pid");
    let own = std::fs::read_link("/proc/self/fd/1").ok();
    let held = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its files");
    let pipes = held
        .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok())
        .filter(|target| Some(target) == own.as_ref());
    assert_eq!(pipes.count(), 0);
    sandbox.destroy();
}

#[test]
fn a_folder_that_is_reached_through_a_link_holds_the_same_session() {
    let sandbox = prebuilt::quickstart();
    let real = sandbox.path(".");
    let link = sandbox.root().join("link");
    std::os::unix::fs::symlink(real.as_std_path(), &link).expect("a link");
    let linked = link.join("cp9.yaml").to_string();
    sandbox
        .cp9(["up", "--config", &linked])
        .run()
        .assert_code(0);
    let before = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    sandbox.cp9(["up"]).run().assert_code(0);
    let after = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    assert_eq!(before, after, "the same session, kept as it is");
    sandbox
        .cp9(["status", "--config", &linked])
        .cwd("/")
        .run()
        .assert_code(0);
    sandbox
        .cp9(["destroy", "--config", &linked])
        .run()
        .assert_code(0);
    sandbox.assert_nothing_left();
}

#[test]
fn an_up_does_not_join_a_controller_that_is_told_to_stop() {
    let sandbox = prebuilt::quickstart();
    // A worker that does not hear a polite signal keeps its controller stopping for some seconds.
    let worker = prebuilt::built("cluster-worker");
    let deaf = sandbox.path("deaf");
    sandbox.write(
        "deaf",
        &format!("#!/bin/sh\ntrap '' TERM\nexec {worker} \"$@\"\n"),
    );
    std::fs::set_permissions(&deaf, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    sandbox.replace("cp9.yaml", worker.as_str(), deaf.as_str());
    sandbox.cp9(["up"]).run().assert_code(0);
    let before = sandbox.status()["controller"]["pid"].clone();
    let pause = sandbox.cp9(["pause"]).spawn();
    wait_until(LIMIT, "a service that is being stopped", || {
        let status = sandbox.status().to_string();
        status.contains("stopping").then_some(())
    });
    pause.interrupt();
    pause.wait(LIMIT).assert_code(130);
    sandbox.cp9(["up"]).run().assert_code(0);
    let status = sandbox.status();
    assert_ne!(status["controller"]["pid"], before, "{status}");
    assert_eq!(status["controller"]["state"], "running", "{status}");
    sandbox.destroy();
}

#[test]
fn a_closed_terminal_ends_what_follows_unless_it_was_told_to_stay() {
    if cp9_tools::procs::ignores_hangup() {
        let _ = std::io::stderr().write_all(b"SKIP: a closed terminal: hangups are ignored here\n");
        return;
    }
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let follow = sandbox.cp9(["logs", "--follow"]).spawn();
    follow.wait_stdout(LIMIT, "the past", |text| text.contains("listens"));
    follow.signal(Signal::SIGHUP);
    let ended = follow.wait(LIMIT);
    assert!(matches!(ended.code, Some(0 | 130)), "{}", ended.snapshot());

    let script = "trap '' HUP; exec \"$0\" logs --follow";
    let deaf = sandbox.program("/bin/sh").args(["-c", script, CP9]).spawn();
    deaf.wait_stdout(LIMIT, "the past", |text| text.contains("listens"));
    deaf.signal(Signal::SIGHUP);
    let api = sandbox.endpoint("cluster-api");
    http_get(&format!("{api}/v1beta1/projects/still/clusters")).expect("an answer");
    deaf.wait_stdout(LIMIT, "the new line", |text| {
        text.contains("/projects/still/")
    });
    deaf.interrupt();
    deaf.wait(LIMIT);
    sandbox.destroy();
}

#[test]
fn a_halted_controller_keeps_nobody_waiting() {
    let sandbox = prebuilt::quickstart();
    sandbox.cp9(["up"]).run().assert_code(0);
    let halt = |before: Option<i64>| {
        let pid = sandbox.status()["controller"]["pid"].as_i64();
        assert_ne!(pid, before);
        let id = pid.expect("a pid").to_string();
        let halt = sandbox
            .program("/bin/sh")
            .args(["-c", "kill -STOP $0", &id]);
        halt.run().assert_code(0);
        pid
    };
    let first = halt(None);
    let started = Instant::now();
    let status = sandbox.status();
    assert_eq!(status["controller"]["state"], "unreachable", "{status}");
    sandbox.cp9(["up"]).run().assert_code(0);
    let second = halt(first);
    sandbox.cp9(["pause"]).run().assert_code(0);
    sandbox.cp9(["up"]).run().assert_code(0);
    halt(second);
    sandbox.destroy();
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
}
