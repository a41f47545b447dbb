//! Logs of running services, past and following.

use std::time::Duration;

use cp9_loop::{Controller, logs};
use cp9_model::report::LogLine;
use tokio::sync::mpsc;

use super::session::{Session, eventually, pid};

#[tokio::test]
async fn follow_gives_past_and_coming_lines_once_each() {
    let mut session = Session::new();
    session.command_service(
        "api",
        "i=0; while :; do i=$((i+1)); echo \"line $i\"; read x < $OUT/pipe; done",
    );
    session.command_service("db", "echo 'WARN from db'; echo noise; exec sleep 1000");
    session.write_plan();
    let fifo = session.path("out/pipe");
    let mkfifo = cp9_tools::Cmd::new("mkfifo").arg(&fifo);
    session
        .doors
        .run(&mkfifo)
        .await
        .expect("runs")
        .checked()
        .expect("mkfifo");
    let _served = session.serve_here();
    let mut watch = session.watch().await;
    watch.until_ready().await;

    let (line_tx, mut line_rx) = mpsc::unbounded_channel();
    let (doors, folder) = (
        session.doors.with_child_cancel(),
        session.paths.folder.clone(),
    );
    let cancel = doors.cancel.clone();
    let query = logs::Query {
        services: vec!["api".into()],
        ..logs::Query::default()
    };
    let mut sink = |line: LogLine| drop(line_tx.send(line.text));
    let poking = async {
        for number in 1..=3 {
            let line = tokio::time::timeout(Duration::from_secs(30), line_rx.recv()).await;
            assert_eq!(line.expect("a line"), Some(format!("line {number}")));
            poke(&fifo).await;
        }
        cancel.cancel();
    };
    let (followed, ()) = tokio::join!(logs::follow(&doors, &folder, &query, &mut sink), poking);
    followed.expect("follows");

    let query = logs::Query {
        min_level: Some(logs::Level::Warn),
        ..logs::Query::default()
    };
    let read = || logs::read(&session.doors, &session.paths.folder, &query).expect("logs");
    eventually("the warning", || read().len() == 1).await;
    assert_eq!(
        (read()[0].service.as_str(), read()[0].text.as_str()),
        ("db", "WARN from db")
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn follow_ends_with_its_session() {
    let mut session = Session::new();
    session.command_service("api", "echo hi; exec sleep 1000");
    session.write_plan();
    let served = session.serve_here();
    session.watch().await.until_ready().await;
    session.client().await.stop().await.expect("stops");
    served.await.expect("task").expect("serves");
    let (mut lines, folder) = (Vec::new(), session.paths.folder.clone());
    let query = logs::Query::default();
    let mut gone = false;
    let mut sink = |line: LogLine| {
        lines.push(line.text);
        if !std::mem::replace(&mut gone, true) {
            session.doors.remove_tree(&folder).expect("removed");
            // Another session of the name is not the one that was followed.
            session
                .doors
                .create_private_dir(&folder.join("logs/raw"))
                .expect("dir");
        }
    };
    let followed = logs::follow(&session.doors, &folder, &query, &mut sink);
    let followed = tokio::time::timeout(Duration::from_secs(30), followed).await;
    followed.expect("ends").expect("well");
    assert_eq!(lines, ["hi"]);
}

#[tokio::test]
async fn build_output_belongs_to_the_service() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", "error: broken\n");
    let mut watch = session.begin().await;
    watch
        .until("verdicts", |status| {
            status.resources.iter().all(|resource| resource.verdict)
        })
        .await;
    session.client().await.stop().await.expect("stops");
    watch.ended().await;
    let query = logs::Query {
        services: vec!["api".into()],
        ..logs::Query::default()
    };
    let lines = logs::read(&session.doors, &session.paths.folder, &query).expect("logs");
    let [line] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!(
        (
            line.service.as_str(),
            line.resource.as_str(),
            line.level.as_deref(),
            line.text.as_str()
        ),
        ("api", "api-live-binary", Some("error"), "error: broken")
    );
}

#[tokio::test]
async fn a_running_service_writes_to_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    let mut session = Session::new();
    session.command_service("api", "echo hi; exec sleep 1000");
    let status = session.begin().await.until_ready().await;
    assert!(pid(&status, "api") > 1);
    let raw = std::fs::metadata(session.path("s/logs/raw/api.log")).expect("raw log");
    assert_eq!(raw.permissions().mode() & 0o777, 0o600);
    session.client().await.stop().await.expect("stops");
}

/// Lets the reader of the pipe go on.
async fn poke(fifo: &camino::Utf8Path) {
    let fifo = fifo.to_owned();
    let write = move || {
        std::fs::OpenOptions::new()
            .write(true)
            .open(fifo)
            .map(|mut file| {
                use std::io::Write;
                file.write_all(b"\n").expect("writes");
            })
    };
    tokio::task::spawn_blocking(write)
        .await
        .expect("task")
        .expect("opens");
}
