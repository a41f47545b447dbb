//! The socket: who may serve, who may ask, and what reload and stop do.

use std::os::unix::fs::PermissionsExt;

use cp9_loop::embedded::Client;
use cp9_loop::{Controller, ControllerError};
use cp9_model::control::{Credentials, Phase, Withheld};
use cp9_model::{Category, Explain};
use tokio::sync::mpsc;

use super::session::{Session, eventually, is_running, of, pid, version};

#[tokio::test]
async fn reload_touches_only_what_changed() {
    let mut session = Session::new();
    for name in ["kept", "changed", "removed"] {
        session.command_service(name, "exec sleep 1000");
    }
    let mut watch = session.begin().await;
    let before = watch.until_ready().await;

    session.resources.pop();
    session.resources[1]["env"]["NEW"] = "1".into();
    session.resources[0]["links"] = serde_json::json!(["http://127.0.0.1:1"]);
    session.command_service("added", "exec sleep 1000");
    session.write_plan();
    let mut client = session.client().await;
    let hello = client.reload().await.expect("reloads");
    assert_ne!(hello.plan_digest, before.hello.plan_digest);
    let after = watch
        .until("the new plan", |status| {
            status.resources.len() == 3
                && status.resources.iter().all(|resource| resource.ready)
                && pid(status, "changed") != pid(&before, "changed")
        })
        .await;
    assert_eq!(pid(&after, "kept"), pid(&before, "kept"));
    assert_eq!(of(&after, "added").runs, 1);
    eventually("the end of the removed one", || {
        !is_running(pid(&before, "removed"))
    })
    .await;
    client.stop().await.expect("stops");
}

#[tokio::test]
async fn a_changed_secret_or_file_restarts_on_reload() {
    let mut session = Session::new();
    session.save("s/secrets/api.env", "TOKEN=first-value\n");
    session.save("src/app.conf", "one");
    let files = serde_json::json!([
        {"path": "${session}/run/api/root/etc/app.conf", "source": "${src}/app.conf"},
        {"path": "${session}/run/api/root/etc/token", "source": "${session}/secrets/api.env", "key": "TOKEN"},
    ]);
    let entry = session.command_service(
        "api",
        "echo \"secret $TOKEN\"; cat s/run/api/root/etc/* > $OUT/api; exec sleep 1000",
    );
    entry["secrets"] =
        serde_json::json!([{"env": "TOKEN", "file": "${session}/secrets/api.env", "key": "TOKEN"}]);
    entry["files"] = files;
    entry["cwd"] = "${session}/..".into();
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    eventually("the first start", || {
        session.text("out/api") == "onefirst-value"
    })
    .await;

    let mut client = session.client().await;
    client.reload().await.expect("reloads");
    session.save("s/secrets/api.env", "TOKEN=second-value\n");
    client.reload().await.expect("reloads");
    let second = watch
        .until("another process", |status| {
            of(status, "api")
                .pid
                .is_some_and(|new| new != pid(&first, "api"))
        })
        .await;
    assert_eq!(of(&second, "api").runs, 2);
    eventually("the second start", || {
        session.text("out/api") == "onesecond-value"
    })
    .await;

    let mode = std::fs::metadata(session.path("s/run/api/root/etc/token"))
        .expect("file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let index = session.paths.folder.join("logs/index/api.jsonl");
    eventually("the log", || {
        session
            .doors
            .read_text(&index)
            .is_ok_and(|text| text.lines().count() == 2)
    })
    .await;
    let text = session.doors.read_text(&index).expect("index");
    assert!(
        text.contains("secret ***") && !text.contains("-value"),
        "{text}"
    );
    client.stop().await.expect("stops");
}

#[tokio::test]
async fn a_plan_that_cannot_be_executed_changes_nothing() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    let mut watch = session.begin().await;
    let before = watch.until_ready().await;
    let mut client = session.client().await;
    session.resources[0]["deps"] = serde_json::json!(["ghost"]);
    session.write_plan();
    let error = client.reload().await.expect_err("refused");
    assert!(
        matches!(&error, ControllerError::Refused { message } if message.contains("`ghost`")),
        "{error}"
    );
    session.save("s/tilt/dev-plan.json", "{");
    let error = client.reload().await.expect_err("refused");
    assert!(
        matches!(&error, ControllerError::Refused { message }
            if message.contains("is not in the format `cp9.devplan/v1`: EOF while")),
        "{error}"
    );
    let after = client.status().await.expect("status");
    assert_eq!(after.resources, before.resources);
    assert_eq!(after.hello, before.hello);
    let error = client.trigger("ghost").await.expect_err("refused");
    assert!(error.to_string().contains("no resource `ghost`"), "{error}");
    client.stop().await.expect("stops");
}

#[tokio::test]
async fn a_second_controller_is_refused_and_strangers_are_not_served() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    session.begin().await.until_ready().await;
    let hello = session.client().await.hello().await.expect("answers");
    assert_eq!(hello.version, "1.2.3");

    let second = session
        .serve_here()
        .await
        .expect("task")
        .expect_err("refused");
    assert_eq!(second.code(), "locked");
    let error = Client::connect(&session.paths.socket, "another")
        .await
        .expect_err("refused");
    assert!(matches!(error, ControllerError::Foreign { .. }), "{error}");
    let mode = std::fs::metadata(&session.paths.socket)
        .expect("socket")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn stop_ends_every_child_then_the_controller() {
    let mut session = Session::new();
    session.command_service("polite", "exec sleep 1000");
    session.command_service("stubborn", "trap '' TERM; while :; do sleep 1; done")["grace_seconds"] =
        0.into();
    session.command_service("parent", "sleep 1000 & echo $! > $OUT/child; wait");
    session.write_plan();
    let served = session.serve_here();
    let mut watch = session.watch().await;
    let status = watch.until_ready().await;
    eventually("the grandchild", || session.lines("out/child") == 1).await;
    let grandchild: u32 = session.text("out/child").trim().parse().expect("pid");
    session.client().await.stop().await.expect("stops");
    for name in ["polite", "stubborn", "parent"] {
        assert!(!is_running(pid(&status, name)), "{name}");
        assert!(
            !session
                .doors
                .exists(&session.path(&format!("s/run/{name}/child.json"))),
            "{name}"
        );
    }
    assert!(!is_running(grandchild));
    session.stopped().await;
    served.await.expect("task").expect("ends well");
    watch.ended().await;
}

#[tokio::test]
async fn the_socket_survives_nonsense() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    let mut watch = session.begin().await;
    watch.until_ready().await;
    let stream = tokio::net::UnixStream::connect(&session.paths.socket)
        .await
        .expect("connects");
    let mut stream = BufReader::new(stream);
    stream
        .get_mut()
        .write_all(b"{\"op\":\"explode\"}\n")
        .await
        .expect("sends");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("answers");
    assert!(line.contains("\"reply\":\"error\""), "{line}");
    stream
        .get_mut()
        .write_all(&[0xff, 0xfe, b'\n'])
        .await
        .expect("sends");
    drop(stream);
    session.client().await.stop().await.expect("still answers");
}

#[tokio::test]
async fn a_reload_gives_what_failed_another_chance() {
    let mut session = Session::new();
    session.source_service("api");
    let script = "echo x >> $2/builds; test -f $2/tool || { echo no tool >&2; exit 1; }; cp $0 $1; chmod 755 $1";
    session.resources[0]["argv"] = serde_json::json!([
        "/bin/sh",
        "-c",
        script,
        "${src}/api.sh",
        "${output}",
        session.path("out")
    ]);
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    let red = watch
        .until("the failure", |status| {
            of(status, "api-live-binary").phase == Phase::Failed
        })
        .await;
    assert_eq!(
        of(&red, "api-live-binary").message.as_deref(),
        Some("no tool")
    );
    session.save("out/tool", "");
    session.client().await.reload().await.expect("reloads");
    watch.until_ready().await;
    session.client().await.reload().await.expect("reloads");
    session
        .client()
        .await
        .trigger("api")
        .await
        .expect("answers");
    watch.until_ready().await;
    assert_eq!(
        session.lines("out/builds"),
        2,
        "what had success is not built again"
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_save_after_a_reload_is_built() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    watch.until_ready().await;
    for word in ["v2", "v3"] {
        session.client().await.reload().await.expect("reloads");
        session.save("src/api.sh", &version(word));
        eventually("the new version", || {
            session.text("out/api") == format!("{word}\n")
        })
        .await;
    }
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_running_process_is_judged_by_the_probes_of_the_new_plan() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;

    let exec = |script: &str| {
        serde_json::json!({"check": {"type": "exec", "argv": ["/bin/sh", "-c", script]},
            "period_seconds": 1, "timeout_seconds": 1, "failure_threshold": 1, "success_threshold": 1})
    };
    session.resources[0]["ready"] = exec("test -f $OUT/up");
    session.write_plan();
    session.client().await.reload().await.expect("reloads");
    let unready = watch
        .until("the new readiness", |status| {
            of(status, "api").phase == Phase::Unready
        })
        .await;
    assert_eq!(pid(&unready, "api"), pid(&first, "api"));
    session.save("out/up", "");
    watch.until_ready().await;

    session.resources[0]["live"] = exec("test ! -f $OUT/sick");
    session.write_plan();
    session.client().await.reload().await.expect("reloads");
    session.save("out/sick", "");
    watch
        .until("the end of the sick one", |status| {
            of(status, "api").restarts == 1
        })
        .await;
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn hello_does_not_wait_for_the_products_of_an_earlier_controller() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    session.write_plan();
    let served = session.serve_here();
    session.watch().await.until_ready().await;
    session.client().await.stop().await.expect("stops");
    served.await.expect("task").expect("serves");

    // Reading it takes as long as nobody writes to it.
    let product = session.path("s/.cp9-build/api/live/service");
    session.doors.remove_file(&product).expect("removed");
    let mkfifo = cp9_tools::Cmd::new("mkfifo").arg(&product);
    let made = session.doors.run(&mkfifo).await.expect("runs");
    made.checked().expect("a pipe");
    let _served = session.serve_here();
    let status = session.client().await.status().await.expect("answers");
    assert_eq!(of(&status, "api-live-binary").phase, Phase::Waiting);
    let open = move || std::fs::OpenOptions::new().write(true).open(product);
    drop(tokio::task::spawn_blocking(open).await.expect("task"));
    session.watch().await.until_ready().await;
    assert_eq!(session.lines("out/builds"), 2);
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn credentials_are_asked_for_beside_everything_else_and_never_shown() {
    let mut session = Session::new();
    session.command_service("api", "exec sleep 1000");
    let (lender_tx, mut lender_rx) = mpsc::unbounded_channel();
    session.lender = lender_tx;
    let mut watch = session.begin().await;
    watch.until_ready().await;
    let mut asks = session.client().await;
    let asking = tokio::spawn(async move { asks.credentials().await });
    let question = lender_rx.recv().await.expect("a question");
    // Its answer is not there yet, and everybody else has theirs.
    let mut client = session.client().await;
    client.status().await.expect("a status");
    client.reload().await.expect("reloads");
    let credentials = Credentials {
        access_key: "ASIAX".into(),
        secret_key: "hunter22".into(),
        session_token: "token".into(),
        expiration: "2026-12-01T12:00:00Z".into(),
    };
    question
        .send(Ok(credentials.clone()))
        .expect("somebody waits");
    let given = asking.await.expect("no panic").expect("credentials");
    assert_eq!(given, credentials);

    let mut asks = session.client().await;
    let asking = tokio::spawn(async move { asks.credentials().await });
    let why = Withheld {
        message: "expired".into(),
        remedy: Some("sign in".into()),
        transient: true,
    };
    let question = lender_rx.recv().await.expect("a question");
    question.send(Err(why)).expect("somebody waits");
    let error = asking.await.expect("no panic").expect_err("withheld");
    assert_eq!(error.remedy().as_deref(), Some("sign in"));
    assert_eq!(error.category(), Category::Transient);
    client.stop().await.expect("stops");
}
