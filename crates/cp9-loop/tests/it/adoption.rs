//! kill -9 of the controller loses nothing.

use std::time::Duration;

use cp9_loop::embedded::Client;
use cp9_loop::{Controller, ControllerError, logs};
use cp9_tools::Signal;
use cp9_tools::procs::{self, signal_group};

use super::session::{Session, eventually, is_running, of, pid, version};

fn texts(session: &Session, resource: &str) -> Vec<String> {
    let query = logs::Query {
        all: true,
        ..logs::Query::default()
    };
    let lines = logs::read(&session.doors, &session.paths.folder, &query).expect("logs");
    lines
        .into_iter()
        .filter(|line| line.resource == resource)
        .map(|line| line.text)
        .collect()
}

#[tokio::test]
async fn the_next_controller_adopts_processes_builds_nothing_and_loses_no_line() {
    let mut session = Session::new();
    session.source_service("api");
    session.save(
        "src/api.sh",
        "#!/bin/sh\necho v1 > $OUT/$NAME\necho one\ntrap 'echo two' USR1\nwhile :; do sleep 1000 & wait $!; kill $!; done\n",
    );
    session.write_plan();
    let first = session.serve_apart();
    let before = session.watch().await.until_ready().await;
    assert_eq!(before.hello.pid, first.pid);
    assert_eq!(session.holder(), Some(first.pid));

    signal_group(first, Signal::Kill);
    eventually("the end of the controller", || !is_running(first.pid)).await;
    eventually("the end of its lock", || session.holder().is_none()).await;
    assert!(session.socket());
    assert!(is_running(pid(&before, "api")));
    assert_eq!(texts(&session, "api"), ["one"]);

    session.serve_apart();
    let mut watch = session.watch().await;
    let after = watch.until_ready().await;
    assert_eq!(pid(&after, "api"), pid(&before, "api"));
    assert_eq!(of(&after, "api-live-binary").runs, 0);
    assert_eq!(of(&after, "api").binary, of(&before, "api").binary);
    assert_eq!(session.lines("out/builds"), 1);
    assert_eq!(texts(&session, "api"), ["one"]);

    session.save("src/api.sh", &version("v2"));
    let next = watch
        .until("the new version", |status| {
            of(status, "api-live-binary").runs == 1
        })
        .await;
    assert_eq!(
        of(&next, "api-live-binary").phase,
        cp9_model::control::Phase::Built
    );
    watch
        .until("another process", |status| {
            of(status, "api")
                .pid
                .is_some_and(|new| new != pid(&before, "api"))
        })
        .await;
    watch.until_ready().await;
    assert!(!is_running(pid(&before, "api")));

    session.client().await.stop().await.expect("stops");
    watch.ended().await;
    session.stopped().await;
    assert_eq!(texts(&session, "api"), ["one", "INFO v2 up"]);
}

#[tokio::test]
async fn a_plan_that_changed_meanwhile_restarts_or_ends_what_it_concerns() {
    let mut session = Session::new();
    session.command_service("kept", "exec sleep 1000");
    session.command_service("changed", "exec sleep 1000");
    session.command_service("removed", "exec sleep 1000");
    session.write_plan();
    let first = session.serve_apart();
    let before = session.watch().await.until_ready().await;
    signal_group(first, Signal::Kill);
    eventually("the end of the controller", || !is_running(first.pid)).await;

    session.resources.pop();
    session.resources[1]["env"]["NEW"] = "1".into();
    session.write_plan();
    session.serve_apart();
    let mut watch = session.watch().await;
    let after = watch
        .until("another process", |status| {
            of(status, "changed").ready && pid(status, "changed") != pid(&before, "changed")
        })
        .await;
    assert_eq!(pid(&after, "kept"), pid(&before, "kept"));
    assert!(!is_running(pid(&before, "removed")));
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
    assert!(!is_running(pid(&before, "kept")));
}

#[tokio::test]
async fn a_build_in_flight_is_ended_and_redone() {
    let mut session = Session::new();
    session.source_service("api");
    let script = "cd ..; echo x >> out/builds; if [ ! -f out/go ]; then echo $$ > out/slow; exec sleep 1000; fi; \
        cp $0 $1; chmod 755 $1";
    session.resources[0]["argv"] =
        serde_json::json!(["/bin/sh", "-c", script, "src/api.sh", "${output}"]);
    session.save("src/api.sh", &version("v1"));
    session.write_plan();
    let first = session.serve_apart();
    eventually("the build", || session.lines("out/slow") == 1).await;
    let build: u32 = session.text("out/slow").trim().parse().expect("pid");
    let record = session
        .paths
        .folder
        .join("run/api/build-api-live-binary.json");
    eventually("the record of the build", || session.doors.exists(&record)).await;
    signal_group(first, Signal::Kill);
    eventually("the end of the controller", || !is_running(first.pid)).await;
    assert!(is_running(build));
    session.save("out/go", "");
    session.serve_apart();
    let mut watch = session.watch().await;
    watch.until_ready().await;
    assert!(!is_running(build));
    assert_eq!(session.lines("out/builds"), 2);
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
}

#[tokio::test]
async fn a_build_that_was_not_recorded_is_ended_and_what_it_wrote_removed() {
    let mut session = Session::new();
    session.source_service("api");
    let script = "cd ..; touch $1; if [ ! -f out/go ]; then echo $$ > out/slow; exec sleep 1000; fi; \
        cp $0 $1; chmod 755 $1";
    session.resources[0]["argv"] =
        serde_json::json!(["/bin/sh", "-c", script, "src/api.sh", "${output}"]);
    // In its place and no longer called what it was started as.
    session.resources[0]["argv"][2] = script.replace("cd ..; ", "").into();
    session.resources[0]["cwd"] = "${src}/..".into();
    session.save("src/api.sh", &version("v1"));
    session.write_plan();
    let first = session.serve_apart();
    eventually("the build", || session.lines("out/slow") == 1).await;
    let build: u32 = session.text("out/slow").trim().parse().expect("pid");
    let record = session.path("s/run/api/build-api-live-binary.json");
    eventually("the record of the build", || session.doors.exists(&record)).await;
    session.kill(first).await;
    session.doors.remove_file(&record).expect("removed");
    let outputs = || {
        let live = session.path("s/.cp9-build/api/live");
        let entries = live.read_dir_utf8().expect("folder").flatten();
        entries
            .filter(|entry| entry.file_name().starts_with("build-"))
            .count()
    };
    assert_eq!((is_running(build), outputs()), (true, 1));

    session.save("out/go", "");
    session.serve_apart();
    let mut watch = session.watch().await;
    watch.until_ready().await;
    assert_eq!((is_running(build), outputs()), (false, 0));
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
}

#[tokio::test]
async fn a_process_without_its_environment_is_adopted_by_its_record() {
    let mut session = Session::new();
    session.command_service("api", "exec env -i /bin/sleep 1000");
    session.write_plan();
    let first = session.serve_apart();
    let before = session.watch().await.until_ready().await;
    let facts = || cp9_tools::procs::find(pid(&before, "api")).expect("process");
    eventually("the new program", || facts().env.is_empty()).await;
    session.kill(first).await;
    session.serve_apart();
    let mut watch = session.watch().await;
    let after = watch.until_ready().await;
    assert_eq!(pid(&after, "api"), pid(&before, "api"));
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
    assert!(!is_running(pid(&before, "api")));
}

/// Ends only once every one of its kind has been asked to: one after the other would take their
/// grace and end by a kill.
const TOGETHER: &str = "trap 'touch $OUT/$NAME.term' TERM; \
    while [ ! -f $OUT/a.term ] || [ ! -f $OUT/b.term ] || [ ! -f $OUT/release ]; do sleep 0.02; done; \
    echo bye > $OUT/$NAME.bye";

#[tokio::test]
async fn hello_is_answered_while_what_is_left_ends_and_nothing_starts_before() {
    let mut session = Session::new();
    for name in ["a", "b"] {
        let entry = session.command_service(name, TOGETHER);
        entry["env"]["NAME"] = name.into();
        entry["grace_seconds"] = 25.into();
    }
    session.write_plan();
    let first = session.serve_apart();
    let before = session.watch().await.until_ready().await;
    session.kill(first).await;

    session.resources.clear();
    session.command_service("new", "touch $OUT/new; exec sleep 1000");
    session.write_plan();
    session.serve_apart();
    let mut watch = session.watch().await;
    eventually("both signals", || {
        ["a", "b"].iter().all(|name| {
            session
                .doors
                .exists(&session.path(&format!("out/{name}.term")))
        })
    })
    .await;
    let status = session.client().await.status().await.expect("answers");
    assert_eq!(of(&status, "new").phase, cp9_model::control::Phase::Waiting);
    assert_eq!(
        of(&status, "new").message.as_deref(),
        Some("waits for the end of what an earlier controller left running")
    );
    for name in ["a", "b"] {
        assert!(is_running(pid(&before, name)), "{name}");
    }
    assert!(!session.doors.exists(&session.path("out/new")));
    session.save("out/release", "");
    watch.until_ready().await;
    assert_eq!(
        (session.text("out/a.bye"), session.text("out/b.bye")),
        ("bye\n".into(), "bye\n".into())
    );
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
}

#[tokio::test]
async fn a_process_that_was_not_recorded_any_more_is_replaced() {
    let mut session = Session::through_a_link();
    session.command_service("api", "exec sleep 1000");
    session.write_plan();
    let first = session.serve_apart();
    let before = session.watch().await.until_ready().await;
    signal_group(first, Signal::Kill);
    eventually("the end of the controller", || !is_running(first.pid)).await;
    let record = session.paths.folder.join("run/api/child.json");
    session.doors.remove_file(&record).expect("removed");

    session.serve_apart();
    let mut watch = session.watch().await;
    let after = watch.until_ready().await;
    assert_ne!(pid(&after, "api"), pid(&before, "api"));
    assert!(!is_running(pid(&before, "api")));
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
}

#[tokio::test]
async fn a_signal_ends_controller_and_children() {
    for signal in ["-TERM", "-HUP", "-INT"] {
        if signal == "-HUP" && procs::ignores_hangup() {
            continue;
        }
        let mut session = Session::new();
        session.command_service("api", "exec sleep 1000");
        session.write_plan();
        let controller = session.serve_apart();
        let status = session.watch().await.until_ready().await;
        session.signal(controller, signal).await;
        eventually("the end of the controller", || !is_running(controller.pid)).await;
        assert!(!is_running(pid(&status, "api")));
        session.stopped().await;
    }
}

#[tokio::test]
async fn a_halted_controller_is_told_at_once_and_ends_when_it_is_asked_to() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    session.write_plan();
    let controller = session.serve_apart();
    let status = session.watch().await.until_ready().await;
    session.signal(controller, "-STOP").await;
    eventually("its halt", || procs::is_halted(controller.pid)).await;
    let error = Client::connect(&session.paths.socket, &session.scope().id)
        .await
        .expect_err("it answers nothing");
    let ControllerError::Halted { pid: halted } = error else {
        panic!("{error}");
    };
    assert_eq!(halted, controller.pid);
    assert!(procs::stop(controller, Duration::from_mins(1)).await);
    assert!(
        !is_running(pid(&status, "api")),
        "ended by its controller, which went on"
    );
    session.stopped().await;
}
