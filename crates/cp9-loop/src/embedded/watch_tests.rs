//! The watcher's thread on real folders, with and without notices of the system.

#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::devplan::DevPlan;
use cp9_tools::{Clock, Environment};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::super::sources::watch_sets;
use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

struct Place {
    dir: tempfile::TempDir,
    doors: Doors,
    messages: UnboundedReceiver<Message>,
    wake_tx: Sender<Wake>,
}

impl Place {
    /// A watcher of `src`; blind when the system is to give no notice.
    fn new(blind: bool) -> Self {
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        let (messages_tx, messages) = unbounded_channel();
        let (wake_tx, wake_rx) = channel();
        let mut watch = Watch::new(doors.clone(), messages_tx, wake_tx.clone());
        if blind {
            watch.fall_back(&notify::Error::new(ErrorKind::MaxFilesWatch));
        }
        std::thread::spawn(move || watch.run(&wake_rx));
        let dir = tempfile::tempdir().expect("tempdir");
        Self {
            dir,
            doors,
            messages,
            wake_tx,
        }
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.dir.path().join(name)).expect("utf-8")
    }

    fn save(&self, name: &str, text: &str) {
        let path = self.path(name);
        self.doors
            .create_private_dir(path.parent().expect("parent"))
            .expect("dir");
        self.doors
            .write_atomic(&path, text.as_bytes(), 0o644)
            .expect("write");
    }

    fn watch(&self) {
        self.watch_path("src");
    }

    fn watch_path(&self, name: &str) {
        self.wake_tx
            .send(Wake::Plan(sets(&self.path(name))))
            .expect("runs");
    }

    /// The next message; none within a time in which any comes.
    fn message(&mut self) -> Option<Message> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let next = async { tokio::time::timeout(PATIENCE, self.messages.recv()).await };
        runtime.block_on(next).expect("a message in time")
    }

    fn digest(&mut self) -> String {
        match self.message().expect("runs") {
            Message::Source { digest, .. } => digest,
            other => panic!("{other:?}"),
        }
    }
}

fn sets(path: &Utf8Path) -> Vec<(String, WatchSet)> {
    let text = format!(
        r#"{{"apiVersion":"cp9.devplan/v1","session":"abc","roots":{{"src":"{path}"}},"resources":[
            {{"name":"a","service":"a","kind":"build","cwd":"/","trigger":"auto","watch":["${{src}}"]}}]}}"#,
    );
    let plan: DevPlan = serde_json::from_str(&text).expect("a plan");
    watch_sets(&plan)
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.wake_tx.send(Wake::Finish);
    }
}

#[test]
fn every_kind_of_change_is_reported() {
    let mut place = Place::new(false);
    place.save("src/main.rs", "1");
    place.watch();
    let mut digests = vec![place.digest()];
    place.save("src/main.rs", "2");
    digests.push(place.digest());
    place.save("src/new/deep/file.rs", "x");
    digests.push(place.digest());
    place.save("src/new/deep/file.rs", "y");
    digests.push(place.digest());
    std::fs::rename(place.path("src/new"), place.path("src/moved")).expect("rename");
    digests.push(place.digest());
    place.save("src/moved/deep/file.rs", "z");
    digests.push(place.digest());
    std::fs::remove_dir_all(place.path("src")).expect("remove");
    while place.digest() != cp9_model::digest::bytes(b"") {}
    place.save("src/main.rs", "1");
    while place.digest() != digests[0] {}
    let distinct: HashSet<&String> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
}

#[test]
fn a_folder_that_comes_later_is_seen() {
    let mut place = Place::new(false);
    place.watch();
    let empty = place.digest();
    place.save("src/main.rs", "1");
    assert_ne!(place.digest(), empty);
}

#[test]
fn without_notices_it_says_so_and_looks_by_itself() {
    let mut place = Place::new(true);
    let Some(Message::Note(note)) = place.message() else {
        panic!("no note");
    };
    assert!(note.contains("fs.inotify.max_user_watches"), "{note}");
    place.save("src/main.rs", "1");
    place.watch();
    let first = place.digest();
    place.save("src/main.rs", "2");
    assert_ne!(place.digest(), first);
}

#[test]
fn a_check_answers_even_when_nothing_changed() {
    let mut place = Place::new(false);
    place.save("src/main.rs", "1");
    place.watch();
    let first = place.digest();
    place.wake_tx.send(Wake::Check("a".into())).expect("runs");
    let answer = place.message();
    let Some(Message::Source { digest, why, .. }) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!((why, &digest), (Why::Asked, &first));
    place.wake_tx.send(Wake::Renew("a".into())).expect("runs");
    let answer = place.message();
    assert!(
        matches!(&answer, Some(Message::Source { digest, why: Why::Renewed, .. }) if *digest == first),
        "{answer:?}"
    );
}

#[test]
fn a_plan_taken_over_again_goes_on_watching_what_came_later() {
    let mut place = Place::new(false);
    place.watch_path("build/a/live/service");
    let absent = place.digest();
    place.save("build/a/live/service", "1");
    let first = place.digest();
    assert_ne!(first, absent);
    // The folders above were watched while the file was not there; nobody wants them any more.
    place.watch_path("build/a/live/service");
    assert_eq!(place.digest(), first);
    place.save("build/a/live/service", "2");
    assert_ne!(place.digest(), first);
}

#[test]
fn a_plan_that_watches_less_goes_on_watching_the_rest() {
    let mut place = Place::new(false);
    place.save("src/deep/main.rs", "1");
    place.save("src/other.rs", "1");
    place.watch_path("src");
    place.digest();
    place.watch_path("src/deep");
    let first = place.digest();
    place.save("src/deep/main.rs", "2");
    assert_ne!(place.digest(), first);
}

#[test]
fn a_folder_that_is_reached_through_a_link_is_watched() {
    let mut place = Place::new(false);
    place.save("src/main.rs", "1");
    std::os::unix::fs::symlink(place.path("src"), place.path("link")).expect("link");
    place.watch_path("link");
    let first = place.digest();
    place.save("src/main.rs", "2");
    assert_ne!(place.digest(), first);
}

#[test]
fn two_names_of_one_folder_do_not_end_each_others_watch() {
    let mut place = Place::new(false);
    place.save("src/main.rs", "1");
    std::os::unix::fs::symlink(place.path("src"), place.path("link")).expect("link");
    let both = sets(&place.path("link"))
        .into_iter()
        .chain(sets(&place.path("src")));
    place
        .wake_tx
        .send(Wake::Plan(both.collect()))
        .expect("runs");
    place.digest();
    place.digest();
    place.watch_path("src");
    let first = place.digest();
    place.save("src/main.rs", "2");
    assert_ne!(place.digest(), first);
}

#[test]
fn after_lost_events_a_folder_that_was_replaced_is_watched_anew() {
    let dir = tempfile::tempdir().expect("tempdir");
    let src = Utf8PathBuf::from_path_buf(dir.path().join("src")).expect("utf-8");
    let doors = Doors::new(Environment::default(), Clock::system(), false);
    doors.create_private_dir(&src.join("sub")).expect("dir");
    let (messages_tx, _messages) = unbounded_channel();
    let (wake_tx, wake_rx) = channel();
    let mut watch = Watch::new(doors.clone(), messages_tx, wake_tx);
    watch.plan(sets(&src));
    std::fs::rename(src.join("sub"), dir.path().join("away")).expect("rename");
    doors.create_private_dir(&src.join("sub")).expect("dir");
    // The events of the exchange are never looked at.
    watch.event(Ok(
        Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan)
    ));
    watch.look(Why::Seen);
    let file = src.join("sub/main.rs");
    doors.append_line(&file, "x").expect("write");
    loop {
        let event = wake_rx
            .recv_timeout(PATIENCE)
            .expect("an event of the file");
        if matches!(event, Wake::Event(Ok(event)) if event.paths.iter().any(|path| *path == file)) {
            break;
        }
    }
}

#[test]
fn a_thread_that_panics_says_so() {
    let (messages_tx, mut messages) = unbounded_channel();
    alarmed(&messages_tx, || ());
    assert!(messages.try_recv().is_err());
    alarmed(&messages_tx, || panic!("a fault of ours"));
    assert!(matches!(messages.try_recv(), Ok(Message::Blind)));
}

#[test]
fn a_file_that_is_a_link_changes_with_what_it_leads_to() {
    let mut place = Place::new(false);
    place.save("outside/shared.rs", "1");
    place.save("outside/other.rs", "1");
    place.save("src/main.rs", "1");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, place.path(name)).expect("a link");
    };
    link("../outside/shared.rs", "src/shared.rs");
    link("../outside/missing/late.rs", "src/late.rs");
    link("loop.rs", "src/loop.rs");
    link("../outside", "src/folder");
    place.watch();
    let mut digests = vec![place.digest()];
    place.save("outside/shared.rs", "2");
    digests.push(place.digest());
    place.save("outside/missing/late.rs", "1");
    digests.push(place.digest());
    place.save("outside/missing/late.rs", "2");
    digests.push(place.digest());
    std::fs::remove_dir_all(place.path("outside/missing")).expect("removed");
    while place.digest() != digests[1] {}
    let distinct: HashSet<&String> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
    place.save("outside/other.rs", "2");
    place.save("src/main.rs", "2");
    digests.push(place.digest());
    place.save("src/main.rs", "1");
    assert_eq!(
        place.digest(),
        digests[1],
        "what no link leads to is no source"
    );
}

#[test]
fn a_folder_with_two_names_is_watched_under_both() {
    let mut place = Place::new(false);
    place.save("real/src/main.rs", "1");
    place.save("real/shared.rs", "1");
    std::os::unix::fs::symlink(place.path("real"), place.path("link")).expect("a link");
    let shared = place.path("real/src/shared.rs");
    std::os::unix::fs::symlink("../shared.rs", shared).expect("a link");
    place.watch_path("link/src");
    let mut digests = vec![place.digest()];
    place.save("real/shared.rs", "2");
    digests.push(place.digest());
    place.save("real/src/main.rs", "2");
    digests.push(place.digest());
    std::fs::rename(place.path("real/src"), place.path("real/old")).expect("renamed");
    while place.digest() != cp9_model::digest::bytes(b"") {}
    std::fs::rename(place.path("real/old"), place.path("real/src")).expect("renamed");
    while place.digest() != digests[2] {}
    place.save("link/src/main.rs", "3");
    assert!(!digests.contains(&place.digest()));
}
