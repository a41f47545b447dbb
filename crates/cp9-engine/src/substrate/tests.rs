//! Substrates of Terraform's own `terraform_data`, which needs no provider; the program is the real one.

use std::collections::BTreeMap;
use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::substrate::{Expected, ResourceStatus, SessionTags, Track};
use cp9_model::{Owner, Scope};
use cp9_render::substrate::WorkingCopy;
use cp9_tools::{Clock, Doors, Environment};
use serde_json::{Value, json};

use super::*;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;

struct Place {
    _dir: tempfile::TempDir,
    engine: Engine,
    folder: Folder,
}

/// A place to work in; none where there is no Terraform.
fn place() -> Option<Place> {
    let dir = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(dir.path()).expect("UTF-8").to_owned();
    let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let env = Environment::new([
        ("PATH".to_owned(), path.to_owned()),
        ("HOME".to_owned(), root.to_string()),
    ]);
    let doors = Doors::new(env, Clock::system(), false);
    if doors.find_terraform().is_err() {
        // A skip is counted only where nothing captures it.
        let _ = writeln!(std::io::stderr(), "SKIP: terraform: not on PATH");
        return None;
    }
    let engine = Engine {
        doors,
        cwd: root.clone(),
        exe: root.join("cp9"),
        version: "test",
        judge_contract: |_| Ok(()),
    };
    let folder = Folder::below(&root.join(".cp9"), "demo");
    Some(Place {
        _dir: dir,
        engine,
        folder,
    })
}

fn identity() -> Identity {
    let session: cp9_model::SessionName = "demo".parse().expect("a name");
    let owner = Owner::new("alice@example.com");
    Identity {
        expected: Expected {
            tags: SessionTags::new(owner.clone(), session.clone(), Some("8h")),
            account: "111122223333".into(),
            region: "us-west-2".into(),
        },
        partition: "aws".into(),
        aws: None,
        scope: Scope {
            owner,
            session,
            id: "folder-id".into(),
        },
        credentials: Vec::new(),
    }
}

async fn work(place: &Place) -> Work<'_> {
    let terraform = place.engine.doors.terraform().await.expect("recent enough");
    Work::new(&place.engine, &place.folder, terraform, "root", identity())
}

fn copy(place: &Place, main: &str) -> WorkingCopy {
    let state = Paths::of(&place.folder).state();
    let backend = json!({"terraform": {"backend": {"local": {"path": state}}}});
    let tree: BTreeMap<Utf8PathBuf, Vec<u8>> = BTreeMap::from([
        ("root/main.tf".into(), main.as_bytes().to_vec()),
        (
            "root/cp9_override.tf.json".into(),
            backend.to_string().into_bytes(),
        ),
    ]);
    WorkingCopy {
        tree,
        root: "root".into(),
        var_file: Some(("premium.tfvars".into(), b"persona = \"premium\"\n".to_vec())),
        values: br#"{"cp9_session":"demo","odd":"${not} a %{template}"}"#.to_vec(),
    }
}

const MAIN: &str = r#"
terraform {
  backend "s3" {
    bucket = "shared"
  }
}
variable "cp9_session" {}
variable "persona" {}
variable "odd" {}
resource "terraform_data" "a" {
  input = "${var.cp9_session}-${var.persona}"
}
output "name" {
  value = terraform_data.a.output
}
output "odd" {
  value = var.odd
}
output "dsn" {
  value     = "mysql://user:hushhush@host"
  sensitive = true
}
"#;

async fn up(work: &Work<'_>, copy: &WorkingCopy) -> Result<Vec<String>, EngineError> {
    let mut quiet = |_: &str| ();
    work.recover(Recover::Wait, &mut quiet).await?;
    if !work.is_initialised(copy) {
        work.init(copy, &mut quiet).await?;
    }
    work.write_values(copy)?;
    work.plan(&mut quiet).await?;
    work.apply(&mut quiet).await
}

fn read(place: &Place, name: &str) -> Value {
    let path = Paths::of(&place.folder).root.join(name);
    let text = place.engine.doors.read_text(&path).expect(name);
    serde_json::from_str(&text).expect(name)
}

#[tokio::test]
async fn a_root_is_planned_applied_kept_changed_and_destroyed() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let first = copy(&place, MAIN);
    let evidence = up(&work, &first)
        .await
        .map_err(|e| e.told())
        .expect("applied");
    assert_eq!(
        evidence,
        ["terraform/outputs.json", "1 resources, 3 outputs"]
    );
    let outputs = read(&place, "outputs.json");
    assert_eq!(outputs["name"]["value"], "demo-premium");
    assert_eq!(
        outputs["odd"]["value"], "${not} a %{template}",
        "no text is a template"
    );
    assert_eq!(outputs["dsn"]["sensitive"], true);
    assert_eq!(
        outputs["dsn"].get("value"),
        None,
        "what is sensitive stays in the state"
    );
    assert_eq!(
        read(&place, "terraform.tfstate")["version"],
        4,
        "not in the bucket of others"
    );
    let mut quiet = |_: &str| ();
    assert!(work.is_initialised(&first) && work.is_applied());
    assert!(
        work.plan_holds(&mut quiet)
            .await
            .map_err(|e| e.told())
            .expect("looked")
    );
}

#[tokio::test]
async fn a_changed_root_is_applied_and_destroyed() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let mut quiet = |_: &str| ();
    up(&work, &copy(&place, MAIN))
        .await
        .map_err(|e| e.told())
        .expect("applied");
    let second = copy(&place, &MAIN.replace("}-${var", "}+${var"));
    assert!(!work.is_initialised(&second));
    up(&work, &second)
        .await
        .map_err(|e| e.told())
        .expect("changed");
    assert_eq!(
        read(&place, "outputs.json")["name"]["value"],
        "demo+premium"
    );

    assert!(needed(&place.engine, &place.folder).expect("looked"));
    let gone = work
        .destroy(&mut quiet)
        .await
        .map_err(|e| e.told())
        .expect("destroyed");
    assert_eq!(gone, 1);
    assert!(!needed(&place.engine, &place.folder).expect("looked"));
    assert_eq!(
        work.destroy(&mut quiet)
            .await
            .map_err(|e| e.told())
            .expect("again"),
        0
    );
}

#[tokio::test]
async fn what_is_refused_is_never_applied() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let proof = place.folder.root.join("ran");
    let main = format!(
        "{MAIN}resource \"terraform_data\" \"gh\" {{\n provisioner \"local-exec\" {{\n command = \"touch {proof}\"\n }}\n}}\n"
    );
    let bad = copy(&place, &main);
    let error = up(&work, &bad).await.expect_err("refused");
    assert_eq!(error.source.code(), "plan-refused");
    assert_eq!(error.diagnostics.len(), 1);
    assert_eq!(error.diagnostics[0].file, "terraform_data.gh");
    assert_eq!(error.diagnostics[0].code, "substrate-reach");
    let paths = Paths::of(&place.folder);
    assert!(
        !place.engine.doors.exists(&paths.saved()),
        "nothing is left to apply"
    );
    assert_eq!(read(&place, "plan.json")["offences"][0]["rule"], "reach");
    let mut quiet = |_: &str| ();
    let error = work.apply(&mut quiet).await.expect_err("still refused");
    assert_eq!(error.source.code(), "plan-refused");
    assert!(!place.engine.doors.exists(&proof) && !place.engine.doors.exists(&paths.state()));
}

#[tokio::test]
async fn a_mistake_of_the_root_is_told_with_its_place() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let bad = copy(
        &place,
        &MAIN.replace("terraform_data.a.output", "terraform_data.zzz.output"),
    );
    let error = up(&work, &bad).await.expect_err("a mistake");
    assert_eq!(error.source.code(), "terraform-failed");
    let told = error.told();
    assert!(told.contains("Reference to undeclared resource"), "{told}");
    let log = Paths::of(&place.folder).settled_log("plan");
    assert!(error.source.remedy().expect("one").contains(log.as_str()));
    assert!(place.engine.doors.exists(&log));
}

#[tokio::test]
async fn a_plan_that_grew_stale_is_made_anew() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let copy = copy(&place, MAIN);
    let mut quiet = |_: &str| ();
    work.init(&copy, &mut quiet)
        .await
        .map_err(|e| e.told())
        .expect("ready");
    work.write_values(&copy).expect("written");
    work.plan(&mut quiet)
        .await
        .map_err(|e| e.told())
        .expect("planned");
    assert!(
        work.plan_holds(&mut quiet)
            .await
            .map_err(|e| e.told())
            .expect("looked"),
        "not applied yet"
    );
    // The same plan applied behind our back: the saved one can be applied no more.
    let cmd = work
        .terraform
        .apply(&place.engine.doors.env, &work.place, &work.paths.saved());
    assert!(place.engine.doors.run(&cmd).await.expect("run").success());
    assert!(
        !work
            .plan_holds(&mut quiet)
            .await
            .map_err(|e| e.told())
            .expect("looked")
    );
    work.apply(&mut quiet)
        .await
        .map_err(|e| e.told())
        .expect("applied");
    assert!(work.is_applied());
}

#[tokio::test]
async fn a_state_that_is_held_says_by_whom() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let mut quiet = |_: &str| ();
    let slow = "resource \"terraform_data\" \"s\" {\n provisioner \"local-exec\" {\n command = \"sleep 60\"\n }\n}\n";
    let copy = copy(&place, &format!("{MAIN}{slow}"));
    work.init(&copy, &mut quiet)
        .await
        .map_err(|e| e.told())
        .expect("ready");
    work.write_values(&copy).expect("written");
    // By hand, and so without the marks of a session.
    let files = work.variables().files;
    let cmd = cp9_tools::Cmd::new(work.terraform.program.as_str())
        .args(["apply", "-auto-approve", "-input=false"])
        .args(files.iter().map(|file| format!("-var-file={file}")))
        .env("TF_DATA_DIR", work.place.data.as_str())
        .cwd(&work.place.root);
    let log = place.folder.root.join("by-hand.log");
    let held = place
        .engine
        .doors
        .start_followed(&cmd, &log)
        .expect("started");
    let begun = || {
        place
            .engine
            .doors
            .read_text(&log)
            .unwrap_or_default()
            .contains("Provisioning")
    };
    for _ in 0..1000 {
        if begun() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let error = work.plan(&mut quiet).await.expect_err("held");
    cp9_tools::procs::signal_group(held.id, cp9_tools::Signal::Kill);
    assert_eq!(error.source.code(), "terraform-locked", "{}", error.told());
    assert!(
        error.told().contains(&format!("process {}", held.id.pid)),
        "{}",
        error.told()
    );
    // The lock of a dead holder is none, although its lock file is still there.
    for _ in 0..200 {
        if !cp9_tools::procs::is_alive(held.id) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let again = work.plan(&mut quiet).await.expect_err("a provisioner");
    assert_eq!(again.source.code(), "plan-refused", "{}", again.told());
}

#[tokio::test]
async fn an_orphan_stays_in_the_ledger_whatever_up_does_to_the_rest() {
    let Some(place) = place() else { return };
    let work = work(&place).await;
    let orphan = json!([{"address": "aws_vpc.v", "kind": "aws_vpc", "name": "demo-v", "status": "creating", "in_state": false}]);
    let track: Track = serde_json::from_value(orphan).expect("a track");
    work.keep(&track).expect("kept");
    crate::destroy::ledger::renew(&place.engine, &place.folder).expect("renewed");
    let copy = copy(&place, MAIN);
    up(&work, &copy)
        .await
        .map_err(|e| e.told())
        .expect("applied");
    let known = work.track();
    assert_eq!(known.orphans().count(), 1);
    assert_eq!(known.resources[0].status, ResourceStatus::Creating);
    assert!(needed(&place.engine, &place.folder).expect("looked"));
}

#[test]
fn what_a_log_says_was_begun_is_in_the_ledger_and_names_the_orphan() {
    let Some(place) = place() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let work = runtime.block_on(work(&place));
    let planned = json!([
        {"address": "aws_sqs_queue.a", "kind": "aws_sqs_queue", "name": "demo-a", "status": "planned", "in_state": false},
        {"address": "aws_sqs_queue.b", "kind": "aws_sqs_queue", "name": "demo-b", "status": "planned", "in_state": false}]);
    work.keep(&serde_json::from_value(planned).expect("a track"))
        .expect("kept");
    let doors = &place.engine.doors;
    doors.create_private_dir(&work.paths.logs()).expect("made");
    let line = r#"{"@message":"x","hook":{"resource":{"addr":"aws_sqs_queue.b"},"action":"create"},"type":"apply_start"}"#;
    doors
        .write_atomic(
            &work.paths.log("apply"),
            format!("{line}\n{{\"@mess").as_bytes(),
            0o600,
        )
        .expect("written");
    let track = work.take_in().expect("taken in");
    let names: Vec<_> = track
        .orphans()
        .filter_map(|one| one.name.as_deref())
        .collect();
    assert_eq!(names, ["demo-b"], "the other was never begun");
    assert!(doors.exists(&work.paths.settled_log("apply")));
}
