//! The owner of all state, message by message, with nothing of its plan on disk.

use std::sync::Arc;

use camino::Utf8PathBuf;
use cp9_tools::{Clock, Doors, Environment};
use tokio::sync::oneshot;

use super::super::session::SessionFolderPaths;
use super::*;

struct Place {
    _dir: tempfile::TempDir,
    core: Core,
    _heard: mpsc::UnboundedReceiver<Message>,
}

impl Place {
    /// A build and a process that watches files, none of them started.
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let folder = Utf8PathBuf::from_path_buf(dir.path().to_owned()).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        let (messages, heard) = mpsc::unbounded_channel();
        let scope = serde_json::json!({"owner": "local", "session": "test", "id": "i"});
        let session = Session {
            paths: Arc::new(SessionFolderPaths {
                socket: folder.join("controller.sock"),
                folder: folder.clone(),
            }),
            scope: Arc::new(serde_json::from_value(scope).expect("a scope")),
            version: "1".into(),
            build_env: Environment::default(),
            builds: Arc::new(tokio::sync::Semaphore::new(1)),
            doors: doors.clone(),
        };
        let alive = serde_json::json!({"check": {"type": "alive", "millis": 1}, "period_seconds": 1,
            "timeout_seconds": 1, "failure_threshold": 1, "success_threshold": 1});
        let plan = serde_json::json!({"apiVersion": "cp9.devplan/v1", "session": "test", "roots": {},
            "resources": [
                {"name": "lib", "service": "lib", "kind": "build", "cwd": folder, "trigger": "manual",
                    "argv": ["/bin/false"]},
                {"name": "api", "service": "api", "kind": "serve", "cwd": folder, "trigger": "auto",
                    "argv": ["/bin/false"], "watch": [folder.join("src")], "ready": alive},
                {"name": "made", "service": "made", "kind": "build", "cwd": folder, "trigger": "auto",
                    "argv": ["/bin/false"], "binary": folder.join("live/service")},
                {"name": "wrap", "service": "wrap", "kind": "serve", "cwd": folder, "trigger": "auto",
                    "argv": ["/bin/false"], "watch": [folder.join("live/service")], "ready": alive}]});
        let beside = Beside {
            sources: SourceWatcher::start(&doors, mpsc::unbounded_channel().0).expect("starts"),
            indexer: Indexer::start(&doors, &folder, std::collections::BTreeMap::new(), || ())
                .expect("starts"),
        };
        let plan = serde_json::from_value(plan).expect("a plan");
        let core = Core::new(session, plan, Vec::new(), beside, messages);
        Self {
            _dir: dir,
            core,
            _heard: heard,
        }
    }

    fn hear(&mut self, message: Message) {
        self.core.hear(message);
        self.core.after();
    }

    fn digest(&mut self, resource: &str, digest: &str, why: Why) {
        self.hear(Message::Source {
            resource: resource.into(),
            digest: digest.into(),
            changed: Vec::new(),
            why,
        });
    }

    fn trigger(&mut self, resource: &str) -> oneshot::Receiver<Reply> {
        let (reply, answer) = oneshot::channel();
        let resource = resource.into();
        self.hear(Message::Client(Request::Trigger { resource }, reply));
        answer
    }

    fn status(&self, name: &str) -> cp9_model::control::ResourceStatus {
        self.core.resource_status(name).expect("in the plan")
    }
}

#[tokio::test]
async fn a_save_that_comes_before_the_answer_to_a_trigger_takes_nothing_from_it() {
    let mut place = Place::new();
    place.hear(Message::Cleared);
    place.digest("lib", "d1", Why::Seen);
    let mut answer = place.trigger("lib");
    place.digest("lib", "d2", Why::Seen);
    assert!(
        answer
            .try_recv()
            .is_err_and(|error| error == oneshot::error::TryRecvError::Empty)
    );
    place.digest("lib", "d2", Why::Asked);
    assert_eq!(answer.await, Ok(Reply::Begun { number: 2 }));
}

#[tokio::test]
async fn a_trigger_that_brings_the_first_digest_starts_a_process_once() {
    let mut place = Place::new();
    place.hear(Message::Cleared);
    let answer = place.trigger("api");
    place.digest("api", "d1", Why::Asked);
    assert_eq!(answer.await, Ok(Reply::Begun { number: 1 }));
    assert_eq!(place.status("api").phase, Phase::Starting);
    let again = place.trigger("api");
    place.digest("api", "d1", Why::Asked);
    assert_eq!(again.await, Ok(Reply::Begun { number: 2 }));
}

#[tokio::test]
async fn nothing_starts_before_what_is_left_has_ended() {
    let mut place = Place::new();
    place.digest("lib", "d1", Why::Seen);
    place.digest("api", "d1", Why::Seen);
    for name in ["lib", "api"] {
        assert_eq!(place.status(name).phase, Phase::Waiting, "{name}");
    }
    place.hear(Message::Shutdown);
    assert!(
        place.core.stopped().is_none(),
        "what is left must end first"
    );
    let mut place = Place::new();
    place.digest("lib", "d1", Why::Seen);
    place.hear(Message::Cleared);
    assert_eq!(place.status("lib").phase, Phase::Building);
}

#[tokio::test]
async fn when_files_are_watched_no_more_nobody_waits_in_vain() {
    let mut place = Place::new();
    place.hear(Message::Cleared);
    let waiting = place.trigger("lib");
    place.hear(Message::Blind);
    let later = place.trigger("lib");
    for answer in [waiting.await, later.await] {
        assert!(
            matches!(&answer, Ok(Reply::Error { message }) if message.contains("cp9 up")),
            "{answer:?}"
        );
    }
    let status = place.status("api");
    assert!(
        status.verdict
            && status
                .message
                .is_some_and(|message| message.contains("cp9 up"))
    );
    assert_eq!(place.core.report().notes.len(), 1);
}

#[tokio::test]
async fn a_process_that_watches_a_product_starts_with_a_digest_that_knows_it() {
    let mut place = Place::new();
    place.hear(Message::Cleared);
    let plan = super::super::plan::build_digest(&place.core.items["made"].resource);
    place.hear(Message::Resumed {
        resource: "made".into(),
        plan,
        product: None,
    });
    place.digest("made", "d1", Why::Seen);
    assert_eq!(place.status("made").phase, Phase::Building);
    place.digest("wrap", "no product", Why::Seen);
    assert_eq!(
        place.status("wrap").message.as_deref(),
        Some("waits for `made`")
    );
    let product = builder::Product {
        binary: Some("b1".into()),
        source: "d1".into(),
    };
    let finished = builder::Event::Finished {
        number: 1,
        outcome: builder::Outcome::Built(product),
        millis: 1,
    };
    place.hear(Message::Build("made".into(), finished));
    place.digest("wrap", "told before", Why::Seen);
    assert_eq!(place.status("wrap").phase, Phase::Waiting);
    place.digest("wrap", "the product", Why::Renewed);
    assert_eq!(place.status("wrap").phase, Phase::Starting);
    place.digest("wrap", "the product", Why::Seen);
    assert_eq!(place.status("wrap").phase, Phase::Starting);
}

#[tokio::test]
async fn a_process_that_was_given_up_is_started_by_a_build_that_changed_nothing() {
    let mut place = Place::new();
    place.hear(Message::Cleared);
    let plan = super::super::plan::build_digest(&place.core.items["made"].resource);
    place.hear(Message::Resumed {
        resource: "made".into(),
        plan,
        product: None,
    });
    let built = |place: &mut Place, number| {
        let product = builder::Product {
            binary: Some("b1".into()),
            source: "d1".into(),
        };
        let finished = builder::Event::Finished {
            number,
            outcome: builder::Outcome::Built(product),
            millis: 1,
        };
        place.hear(Message::Build("made".into(), finished));
    };
    place.digest("made", "d1", Why::Seen);
    built(&mut place, 1);
    place.digest("wrap", "the product", Why::Renewed);
    while place.status("wrap").phase != Phase::Quiescent {
        let run = place.core.run_of_service("wrap").expect("a service");
        let mut hear = |event| place.hear(Message::Service("wrap".into(), event));
        hear(service::Event::SpawnFailed(run, "no program".into()));
        hear(service::Event::Due(run, service::Due::Restart));
    }
    let _answer = place.trigger("made");
    place.digest("made", "d1", Why::Asked);
    built(&mut place, 2);
    let Work::Serve(wrap) = &place.core.items["wrap"].work else {
        panic!("a process")
    };
    assert!(wrap.renewing, "its files are looked at anew");
    assert_eq!(place.status("wrap").phase, Phase::Quiescent);
    place.digest("wrap", "the product", Why::Renewed);
    assert_eq!(place.status("wrap").phase, Phase::Starting);
}

#[tokio::test]
async fn the_end_waits_for_the_records_of_builds() {
    let mut place = Place::new();
    place.hear(Message::Cleared);
    let Work::Build { turn, .. } = &place.core.items["lib"].work else {
        panic!("a build")
    };
    let writing = turn.clone().lock_owned().await;
    place.hear(Message::Shutdown);
    let (_messages, heard) = mpsc::unbounded_channel();
    let ending = tokio::spawn(place.core.run(heard));
    tokio::task::yield_now().await;
    assert!(!ending.is_finished());
    drop(writing);
    assert!(ending.await.expect("ends").is_empty());
}
