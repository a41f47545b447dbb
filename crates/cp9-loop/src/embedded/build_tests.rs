//! One build with real children.

use cp9_model::control::Phase;
use cp9_tools::{Clock, Environment};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::super::builder::Builder;
use super::super::session::SessionFolderPaths;
use super::*;

struct Place {
    dir: tempfile::TempDir,
    messages: UnboundedReceiver<Message>,
    build: Build,
}

impl Place {
    fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let folder = Utf8PathBuf::from_path_buf(dir.path().to_owned()).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        doors
            .create_private_dir(&folder.join("logs/raw"))
            .expect("dir");
        let env = Environment::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let scope = serde_json::json!({"owner": "local", "session": "test", "id": folder});
        let session = Session {
            doors,
            paths: std::sync::Arc::new(SessionFolderPaths {
                socket: folder.join("controller.sock"),
                folder: folder.clone(),
            }),
            scope: std::sync::Arc::new(serde_json::from_value(scope).expect("a scope")),
            version: "1".into(),
            build_env: env,
            builds: std::sync::Arc::new(tokio::sync::Semaphore::new(1)),
        };
        let resource = serde_json::json!({"name": "api-live-binary", "service": "api",
            "kind": "build", "trigger": "auto", "cwd": folder,
            "argv": ["/bin/sh", "-c", script, "${output}"],
            "binary": folder.join("live/service")});
        let (messages_tx, messages) = unbounded_channel();
        let build = Build {
            turn: Turn::default(),
            session,
            resource: serde_json::from_value(resource).expect("a resource"),
            number: 1,
            source: "s1".into(),
            executed: true,
            kill: CancellationToken::new(),
            messages: messages_tx,
        };
        Self {
            dir,
            messages,
            build,
        }
    }

    async fn outcome(&mut self) -> Outcome {
        match self.messages.recv().await {
            Some(Message::Build(_, Event::Finished { outcome, .. })) => outcome,
            other => panic!("{other:?}"),
        }
    }

    fn pid(&self) -> u32 {
        let text = std::fs::read_to_string(self.dir.path().join("pid")).expect("pid");
        text.trim().parse().expect("pid")
    }
}

const HANGS: &str = "echo $$ > pid; exec sleep 1000";

#[tokio::test(start_paused = true)]
async fn a_build_that_hangs_is_ended_and_has_failed() {
    let mut place = Place::new(HANGS);
    place.build.clone().run().await;
    let outcome = place.outcome().await;
    let expected = "the build did not end within 30 min";
    assert_eq!(outcome, Outcome::Failed(expected.into()));
}

#[tokio::test]
async fn a_build_that_cannot_be_recorded_does_not_go_on() {
    let mut place = Place::new(HANGS);
    let run = place.build.session.paths.run("");
    let (doors, in_the_way) = (&place.build.session.doors, run.join("api"));
    doors.create_private_dir(&run).expect("dir");
    doors.append_line(&in_the_way, "no folder").expect("file");
    place.build.clone().run().await;
    let Outcome::Failed(message) = place.outcome().await else {
        panic!("it was recorded")
    };
    assert!(message.contains("run/api"), "{message}");
    if place.dir.path().join("pid").exists() {
        assert!(procs::find(place.pid()).is_none_or(|facts| facts.zombie));
    }
}

#[tokio::test]
async fn the_next_build_waits_for_the_record_of_this_one() {
    let mut place = Place::new("echo '#!/bin/sh' > $0; chmod 755 $0");
    let turn = place.build.turn.clone().lock_owned().await;
    let running = tokio::spawn(place.build.clone().run());
    tokio::task::yield_now().await;
    assert!(place.messages.try_recv().is_err() && !place.dir.path().join("live").exists());
    drop(turn);
    running.await.expect("runs");
    assert!(matches!(place.outcome().await, Outcome::Built(_)));
    let record = generation::read(
        &place.build.session.doors,
        place.build.resource.binary.as_deref().expect("binary"),
    );
    assert_eq!(record.expect("written").source, "s1");
}

#[tokio::test]
async fn a_lost_build_has_failed_and_its_child_is_ended() {
    let place = Place::new(HANGS);
    let running = tokio::spawn(place.build.clone().run());
    let record = InFlight::new(&place.build.session, &place.build.resource);
    while record.read().is_none() {
        tokio::task::yield_now().await;
    }
    let id = record.read().expect("recorded");
    running.abort();
    let Message::Build(name, event) = place.build.clone().lost().await else {
        panic!("of another kind")
    };
    assert_eq!(name, "api-live-binary");
    assert!(!procs::is_alive(id) && record.read().is_none());
    let mut builder = Builder::new(true);
    builder.step(super::super::builder::Event::DepsMet);
    builder.step(super::super::builder::Event::Source("s1".into()));
    builder.step(event);
    assert_eq!(builder.phase(), Phase::Failed);
    assert_eq!(builder.message().as_deref(), Some(FAULT));
}

#[test]
fn what_builds_write_is_named_after_their_controller() {
    let place = Place::new("");
    let output = place.build.output().expect("wanted");
    let expected = format!("build-{}-1", procs::own_pid());
    assert_eq!(output.file_name(), Some(expected.as_str()));
    assert!(!place.dir.path().join("pid").exists());
}

#[tokio::test]
async fn a_product_that_cannot_run_replaces_nothing() {
    for (script, word) in [
        (": > \"$0\"", "empty"),
        ("echo '#!/bin/sh' > \"$0\"", "not executable"),
        ("echo Error > \"$0\"; chmod 755 \"$0\"", "`#!`"),
    ] {
        let mut place = Place::new(script);
        let live = place.build.resource.binary.clone().expect("a binary");
        place.build.clone().run().await;
        match place.outcome().await {
            Outcome::Unreplaced(why) => assert!(why.contains(word), "{why}"),
            other => panic!("{other:?}"),
        }
        assert!(!std::path::Path::new(&live).exists());
    }
}
