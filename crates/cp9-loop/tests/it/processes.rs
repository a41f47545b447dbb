//! Processes that end by themselves, wait for each other, or never get ready.

use cp9_loop::Controller;
use cp9_model::control::Phase;

use super::session::{Session, eventually, of, pid};

#[tokio::test]
async fn a_crash_is_shown_with_its_last_words_and_started_again() {
    let mut session = Session::new();
    session.command_service(
        "api",
        "echo started >> $OUT/api; echo 'panic: no database' >&2; exit 3",
    );
    let mut watch = session.begin().await;
    let status = watch
        .until("a back-off", |status| {
            of(status, "api").phase == Phase::Backoff
        })
        .await;
    let message = of(&status, "api").message.clone().expect("message");
    assert!(
        message.starts_with("exited with code 3: panic: no database (failure 1 of 8"),
        "{message}"
    );
    assert!(!of(&status, "api").ready);
    watch
        .until("the second start", |status| of(status, "api").restarts == 2)
        .await;
    assert!(session.lines("out/api") >= 2);
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_killed_process_comes_back() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    let id = cp9_tools::procs::find(pid(&first, "api"))
        .expect("process")
        .id;
    cp9_tools::procs::signal_group(id, cp9_tools::Signal::Kill);
    let second = watch
        .until("another process", |status| {
            of(status, "api").runs == 2 && of(status, "api").ready
        })
        .await;
    assert_eq!(of(&second, "api").restarts, 1);
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_trigger_restarts_a_process() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    let mut client = session.client().await;
    client.trigger("api").await.expect("triggers");
    assert!(
        !of(&client.status().await.expect("status"), "api").ready || of(&first, "api").runs == 2
    );
    watch
        .until("another process", |status| {
            of(status, "api").runs == 2 && of(status, "api").ready
        })
        .await;
    client.stop().await.expect("stops");
}

#[tokio::test]
async fn a_missing_program_or_secret_is_named() {
    let mut session = Session::new();
    session.command_service("gone", "x")["argv"] = serde_json::json!(["/nonexistent/program"]);
    session.command_service("mute", "exec sleep 1000")["secrets"] =
        serde_json::json!([{"env": "A", "file": "${session}/secrets/mute.env", "key": "A"}]);
    session.save("s/secrets/mute.env", "B=1\n");
    let status = session
        .begin()
        .await
        .until("verdicts", |status| {
            status.resources.iter().all(|resource| resource.verdict)
        })
        .await;
    let message = |name: &str| of(&status, name).message.clone().expect("message");
    assert!(
        message("gone").contains("/nonexistent/program"),
        "{}",
        message("gone")
    );
    assert!(
        message("mute").contains("no key `A`"),
        "{}",
        message("mute")
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn dependencies_gate_the_first_start_only() {
    let mut session = Session::new();
    session.command_service("db", "touch $OUT/db; exec sleep 1000")["ready"]["check"] =
        serde_json::json!({"type": "exec", "argv": ["/bin/sh", "-c", "test -f $OUT/ready"]});
    session.command_service(
        "api",
        "test -f $OUT/ready || touch $OUT/early; exec sleep 1000",
    )["deps"] = serde_json::json!(["db"]);
    let mut watch = session.begin().await;
    let waiting = watch
        .until("the first check", |status| {
            of(status, "db").message.is_some()
        })
        .await;
    assert_eq!(
        (of(&waiting, "api").phase, of(&waiting, "api").verdict),
        (Phase::Waiting, false)
    );
    assert_eq!(
        of(&waiting, "api").message.as_deref(),
        Some("waits for `db`")
    );
    session.save("out/ready", "");
    let first = watch.until_ready().await;
    assert!(
        session.text("out/early").is_empty() && !session.doors.exists(&session.path("out/early"))
    );
    session
        .client()
        .await
        .trigger("db")
        .await
        .expect("triggers");
    let second = watch
        .until("db again", |status| {
            of(status, "db").runs == 2 && of(status, "db").ready
        })
        .await;
    assert_eq!(pid(&second, "api"), pid(&first, "api"));
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_service_without_a_build_restarts_when_its_files_change() {
    let mut session = Session::new();
    session.save("src/app.sh", "echo one > $OUT/api; exec sleep 1000\n");
    let entry = session.command_service("api", ". ./app.sh");
    entry["cwd"] = "${src}".into();
    entry["watch"] = serde_json::json!(["${src}"]);
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    assert!(of(&first, "api").source.is_some() && of(&first, "api").binary.is_none());
    session.save("src/app.sh", "echo two > $OUT/api; exec sleep 1000\n");
    let second = watch
        .until("another process", |status| {
            of(status, "api").runs == 2 && of(status, "api").ready
        })
        .await;
    assert_ne!(of(&second, "api").source, of(&first, "api").source);
    eventually("the new version", || session.text("out/api") == "two\n").await;
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn liveness_restarts_a_process() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000")["live"] = serde_json::json!({
        "check": {"type": "exec", "argv": ["/bin/sh", "-c", "test ! -f $OUT/sick"]},
        "period_seconds": 1, "timeout_seconds": 1, "failure_threshold": 1, "success_threshold": 1});
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    session.save("out/sick", "");
    watch
        .until("the end of the sick one", |status| {
            of(status, "api").restarts == 1
        })
        .await;
    std::fs::remove_file(session.path("out/sick")).expect("healed");
    let second = watch.until_ready().await;
    assert_ne!(pid(&second, "api"), pid(&first, "api"));
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn what_a_probe_says_is_shown_without_secrets() {
    let mut session = Session::new();
    session.save("s/secrets/api.env", "TOKEN=hunter22\n");
    let script = "printf 'bad \\033[31mhun\\033[0mter22 %s' $TOKEN; exit 1";
    let entry = session.command_service("api", "exec sleep 1000");
    entry["secrets"] =
        serde_json::json!([{"env": "TOKEN", "file": "${session}/secrets/api.env", "key": "TOKEN"}]);
    entry["ready"]["check"] =
        serde_json::json!({"type": "exec", "argv": ["/bin/sh", "-c", script]});
    let mut watch = session.begin().await;
    let status = watch
        .until("the probe's answer", |status| {
            of(status, "api").message.is_some()
        })
        .await;
    assert_eq!(
        of(&status, "api").message.as_deref(),
        Some("`/bin/sh` ended with code 1 bad *** ***")
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn the_answer_of_a_stranger_makes_no_process_ready() {
    let stranger = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = stranger.local_addr().expect("an address").port();
    let mut session = Session::new();
    let api = session.command_service("api", "exec sleep 1000");
    api["ready"]["check"] = serde_json::json!({"type": "tcp", "port": port});
    // The controller runs in this process, and so does the stranger, which is nobody's child.
    let mut watch = session.begin().await;
    let status = watch
        .until("a word on who answers", |status| {
            let message = of(status, "api").message.as_deref();
            message.is_some_and(|message| message.contains("answered by"))
        })
        .await;
    assert!(!of(&status, "api").ready);
    drop(stranger);
    watch
        .until("a closed port", |status| {
            let message = of(status, "api").message.as_deref();
            message.is_some_and(|message| !message.contains("answered by"))
        })
        .await;
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_process_of_several_ports_is_ready_when_all_accept() {
    let open = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    // Bound and not listening: nobody else can come to listen there.
    let closed = tokio::net::TcpSocket::new_v4().expect("a socket");
    closed
        .bind(([127, 0, 0, 1], 0).into())
        .expect("a free port");
    let addresses = [open.local_addr(), closed.local_addr()];
    let ports = addresses.map(|address| address.expect("an address").port());
    let mut session = Session::new();
    let api = session.command_service("api", "exec sleep 1000");
    api["ready"]["check"] = serde_json::json!({"type": "ports", "ports": ports});
    let mut watch = session.begin().await;
    let status = watch
        .until("the closed port's name", |status| {
            let message = of(status, "api").message.as_deref();
            message.is_some_and(|message| message.contains(&ports[1].to_string()))
        })
        .await;
    assert!(!of(&status, "api").ready);
    session.client().await.stop().await.expect("stops");
}
