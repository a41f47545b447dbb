//! Generations measured and glanced at, with a process that runs a script. How a binary proper is
//! proven is tested with the quickstart, through `cp9 deploy`.

use cp9_loop::Controller;
use cp9_loop::embedded::{glance, measure};
use cp9_model::control::ControllerStatus;
use cp9_model::devplan::DevPlan;
use cp9_model::generation::{Generation, Pair};

use super::session::{Session, of, version};

fn plan(session: &Session) -> DevPlan {
    serde_json::from_str(&session.text("s/tilt/dev-plan.json")).expect("a plan")
}

/// By reading everything, and at a glance.
fn both(session: &Session, now: &ControllerStatus) -> [Generation; 2] {
    let plan = plan(session);
    [
        measure(&session.doors, &plan, "api", now),
        glance(&session.doors, &plan, "api", now),
    ]
    .map(|generation| generation.expect("the plan runs it"))
}

#[tokio::test]
async fn one_generation_and_every_break_of_it() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    let now = session.begin().await.until_ready().await;
    let [measured, glanced] = both(&session, &now);
    assert!(measured.current, "{measured:?}");
    assert_eq!(measured, glanced);
    assert_eq!(measured.running, of(&now, "api").binary);
    assert_eq!(
        measure(&session.doors, &plan(&session), "ghost", &now),
        None
    );

    let product = session.paths.folder.join(".cp9-build/api/live/service");
    let bytes = session.doors.read(&product).expect("the product");
    session
        .doors
        .write_atomic(&product, b"#!/bin/sh\n", 0o755)
        .expect("a swap");
    for generation in both(&session, &now) {
        assert_eq!(generation.differs, Some(Pair::BinaryRunning));
        assert_eq!(generation.running, measured.running);
    }
    session.doors.remove_file(&product).expect("removed");
    for generation in both(&session, &now) {
        assert_eq!(generation.differs, Some(Pair::SourceBinary));
    }
    session
        .doors
        .write_atomic(&product, &bytes, 0o755)
        .expect("put back");
    assert!(both(&session, &now).iter().all(|one| one.current));

    // The files are newer than what the controller has told.
    session.save("src/api.sh", &version("v2"));
    let [newer, _] = both(&session, &now);
    assert_eq!(newer.differs, Some(Pair::SourceBinary));

    session.client().await.stop().await.expect("stops");
    let [gone, _] = both(&session, &now);
    assert_eq!(gone.running, None, "no process executes anything");
}

#[tokio::test]
async fn what_is_not_built_is_started_from_its_files() {
    let mut session = Session::new();
    session.save("out/conf", "one");
    let conf = session.path("out/conf");
    session.command_service("api", "exec sleep 1000")["files"] = serde_json::json!([
        {"path": "${session}/run/api/conf", "source": conf}]);
    let now = session.begin().await.until_ready().await;
    let [measured, glanced] = both(&session, &now);
    assert!(
        measured.current && measured.binary.is_none(),
        "{measured:?}"
    );
    assert_eq!(measured, glanced);

    session.save("out/conf", "two");
    let [newer, _] = both(&session, &now);
    assert_eq!(newer.differs, Some(Pair::SourceRunning));
    let mut client = session.client().await;
    client.reload().await.expect("reloads");
    let mut watch = session.watch().await;
    let now = watch
        .until("the restart", |status| {
            let api = of(status, "api");
            api.runs == 2 && api.ready
        })
        .await;
    assert!(both(&session, &now).iter().all(|one| one.current));
    client.stop().await.expect("stops");
}

#[tokio::test]
async fn a_trigger_tells_which_build_answers_it() {
    let mut session = Session::new();
    session.source_service("api");
    session.save("src/api.sh", &version("v1"));
    let mut watch = session.begin().await;
    let first = watch.until_ready().await;
    let ended = |status: &ControllerStatus| {
        let lineage = of(status, "api-live-binary").lineage.as_ref();
        lineage.map_or(0, |lineage| lineage.ended)
    };
    let mut client = session.client().await;
    let number = client.trigger("api-live-binary").await.expect("triggers");
    assert!(number > ended(&first), "nothing from before answers it");
    let answered = watch
        .until("the answer", |status| ended(status) >= number)
        .await;
    assert_eq!(of(&answered, "api-live-binary").runs, 2);
    let again = client.trigger("api-live-binary").await.expect("triggers");
    assert!(again > number);
    client.stop().await.expect("stops");
}
