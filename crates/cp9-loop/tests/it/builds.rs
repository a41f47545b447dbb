//! From a save to the new version: what is built, how often, and what runs meanwhile.

use cp9_loop::Controller;
use cp9_model::control::Phase;

use super::session::{Session, eventually, is_running, of, pid, version};

#[tokio::test]
async fn a_source_service_is_built_started_and_ready() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    session.write_plan();
    let served = session.serve_here();
    let status = session.watch().await.until_ready().await;

    let (build, api) = (of(&status, "api-live-binary"), of(&status, "api"));
    assert_eq!((build.phase, api.phase), (Phase::Built, Phase::Running));
    assert_eq!((build.runs, api.runs, api.restarts), (1, 1, 0));
    assert!(build.verdict && api.verdict && build.build_millis.is_some());
    let product = session.paths.folder.join(".cp9-build/api/live/service");
    assert_eq!(
        build.binary.as_deref(),
        Some(session.doors.digest(&product).expect("digest").as_str())
    );
    assert_eq!((&api.binary, &api.source), (&build.binary, &build.source));
    assert_eq!(session.text("out/api"), "v1\n");
    let facts = cp9_tools::procs::find(pid(&status, "api")).expect("process");
    let mut names: Vec<&str> = facts.env.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name));
    assert_eq!(
        names,
        [
            "CP9_SESSION",
            "CP9_SESSION_ID",
            "CP9_SESSION_OWNER",
            "CP9_START",
            "NAME",
            "OUT",
            "PATH"
        ]
    );

    session.client().await.stop().await.expect("stops");
    served.await.expect("task").expect("serves");
    assert!(!is_running(pid(&status, "api")));
}

#[tokio::test]
async fn one_save_is_one_build_and_the_same_content_is_none() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;

    session.save("src/api.sh", &version("v2"));
    let second = watch
        .until("the second build", |status| {
            of(status, "api-live-binary").runs == 2 && of(status, "api").ready
        })
        .await;
    assert_ne!(pid(&second, "api"), pid(&first, "api"));
    assert_ne!(of(&second, "api").binary, of(&first, "api").binary);
    eventually("the new version", || session.text("out/api") == "v2\n").await;

    // The same content and an ignored file change nothing; the new file after them does.
    session.save("src/.ignore", "*.log\n");
    watch
        .until("the third build", |status| {
            of(status, "api-live-binary").runs == 3
        })
        .await;
    session.save("src/api.sh", &version("v2"));
    session.save("src/api.log", "noise");
    session
        .doors
        .create_private_dir(&session.path("src/deep"))
        .expect("dir");
    session.save("src/deep/new.txt", "x");
    let last = watch
        .until("the fourth build", |status| {
            of(status, "api-live-binary").runs == 4
        })
        .await;
    assert_eq!(session.lines("out/builds"), 4);
    assert_eq!(
        pid(&last, "api"),
        pid(&second, "api"),
        "the same bytes restart nothing"
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_failed_build_keeps_the_old_version_and_shows_the_message() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;

    session.save("src/api.sh", "error: expected `;` \x1b[31mhere\x1b[0m\n");
    let red = watch
        .until("the failure", |status| {
            of(status, "api-live-binary").phase == Phase::Failed
        })
        .await;
    assert_eq!(
        of(&red, "api-live-binary").message.as_deref(),
        Some("error: expected `;` here")
    );
    assert_eq!(of(&red, "api-live-binary").binary, of(&first, "api").binary);
    assert!(of(&red, "api").ready);
    assert_eq!(pid(&red, "api"), pid(&first, "api"));

    session.save("src/api.sh", &version("v2"));
    let green = watch.until_ready().await;
    assert_eq!(of(&green, "api-live-binary").message, None);
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_first_build_that_fails_is_the_verdict_of_what_waits_for_it() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", "error: no\n");
    let status = session
        .begin()
        .await
        .until("verdicts", |status| {
            status.resources.iter().all(|resource| resource.verdict)
        })
        .await;
    assert_eq!(of(&status, "api").phase, Phase::Waiting);
    assert_eq!(
        of(&status, "api").message.as_deref(),
        Some("waits for `api-live-binary`")
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_build_that_writes_nothing_has_failed() {
    let mut session = Session::new();
    session.source_service("api");
    session.resources[0]["argv"] =
        serde_json::json!(["/bin/sh", "-c", "echo fine", "sh", "${output}"]);
    let status = session
        .begin()
        .await
        .until("the failure", |status| {
            of(status, "api-live-binary").phase == Phase::Failed
        })
        .await;
    assert_eq!(
        of(&status, "api-live-binary").message.as_deref(),
        Some("the build did not write `${output}`")
    );
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_build_with_a_fixed_path_must_write_it_when_the_sources_change() {
    let mut session = Session::new();
    session.source_service("api");
    let product = session.paths.folder.join(".cp9-build/api/live/service");
    let script = "grep -q lazy $0 || { rm -f $1; cp $0 $1; chmod 755 $1; }";
    session.resources[0]["argv"] =
        serde_json::json!(["/bin/sh", "-c", script, "${src}/api.sh", product]);
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;

    session.save("src/api.sh", "lazy");
    let red = watch
        .until("the failure", |status| {
            of(status, "api-live-binary").phase == Phase::Failed
        })
        .await;
    let message = of(&red, "api-live-binary")
        .message
        .clone()
        .expect("message");
    assert!(
        message.contains("left `") && message.contains("as it was"),
        "{message}"
    );
    assert_eq!(pid(&red, "api"), pid(&first, "api"));
    session.save("src/api.sh", &version("v2"));
    watch.until_ready().await;
    eventually("the new version", || session.text("out/api") == "v2\n").await;
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_save_during_a_build_ends_that_build() {
    let mut session = Session::new();
    session.source_service("api");
    let slow = "echo start >> $1.log; echo x >> out/builds; \
        if grep -q slow $0; then echo $$ > out/slow; exec sleep 1000; fi; cp $0 $1; chmod 755 $1";
    session.resources[0]["argv"] = serde_json::json!([
        "/bin/sh",
        "-c",
        format!("cd ..; {slow}"),
        "src/api.sh",
        "${output}"
    ]);
    session.save("src/api.sh", "slow");
    let mut watch = session.begin().await;
    eventually("the slow build", || session.lines("out/slow") == 1).await;
    let slow: u32 = session.text("out/slow").trim().parse().expect("pid");
    session.save("src/api.sh", &version("v1"));
    let status = watch.until_ready().await;
    assert_eq!(
        (
            of(&status, "api-live-binary").runs,
            session.lines("out/builds")
        ),
        (1, 2)
    );
    assert!(!is_running(slow));
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_manual_resource_waits_for_its_trigger() {
    let mut session = Session::new();
    session.source_service("api");
    session.resources[0]["trigger"] = "manual".into();
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    watch.until_ready().await;
    session.save("src/api.sh", &version("v2"));
    let behind = watch
        .until("a note", |status| {
            of(status, "api-live-binary").message.is_some()
        })
        .await;
    assert_eq!(of(&behind, "api-live-binary").runs, 1);
    let mut client = session.client().await;
    client.trigger("api-live-binary").await.expect("triggers");
    let during = client.status().await.expect("status");
    let build = of(&during, "api-live-binary");
    assert!(
        build.phase == Phase::Building || build.runs == 2,
        "a trigger is answered after its build has begun"
    );
    watch
        .until("the build", |status| {
            of(status, "api-live-binary").runs == 2 && of(status, "api").ready
        })
        .await;
    client.stop().await.expect("stops");
}

#[tokio::test]
async fn a_command_that_watches_the_built_file_is_started_once_for_each_build() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    let product = "${session}/.cp9-build/api/live/service";
    let serve = &mut session.resources[1];
    serve.as_object_mut().expect("object").remove("binary");
    serve["watch"] = serde_json::json!([product]);
    serve["argv"] = serde_json::json!(["/bin/sh", product]);
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    assert!(of(&first, "api").source.is_some());
    session.client().await.reload().await.expect("reloads");
    session.save("src/api.sh", &version("v2"));
    eventually("the new version", || session.text("out/api") == "v2\n").await;
    let second = watch
        .until("another start", |status| {
            of(status, "api").runs >= 2 && of(status, "api").ready
        })
        .await;
    let runs = |name: &str| of(&second, name).runs;
    assert_eq!((runs("api-live-binary"), runs("api")), (2, 2));
    session.client().await.stop().await.expect("stops");
}

#[tokio::test]
async fn a_build_that_writes_into_its_sources_is_not_built_for_ever() {
    let mut session = Session::new();
    session.source_service("api");
    let script = "cp $0 $1; chmod 755 $1; echo x >> ../out/builds; cp ../out/builds made.txt";
    session.resources[0]["argv"] =
        serde_json::json!(["/bin/sh", "-c", script, "${src}/api.sh", "${output}"]);
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    let told = watch
        .until("a message about it", |status| {
            let message = of(status, "api-live-binary").message.as_deref();
            message.is_some_and(|message| message.contains("made.txt`"))
        })
        .await;
    assert_eq!(of(&told, "api-live-binary").phase, Phase::Built);
    let builds = session.lines("out/builds");
    session.save("src/api.sh", &version("v2"));
    eventually("the new version", || session.text("out/api") == "v2\n").await;
    assert!(builds < session.lines("out/builds"));
    session.client().await.stop().await.expect("stops");
}
