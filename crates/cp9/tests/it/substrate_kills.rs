//! A substrate that is interrupted, killed at many points, met by strangers, changed behind its back, and one
//! whose destroy fails.

use std::process::Command;
use std::time::{Duration, Instant};

use cp9_testkit::wait_until;
use serde_json::Value;

use crate::substrate::{BODY, Given, LIMIT, children, given};

fn kill(pids: &[i32]) {
    for pid in pids {
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.expect("kill starts").code().is_some());
    }
}

impl Given {
    fn make_role(&self, name: &str) {
        let wanted = format!("&RoleName={name}&AssumeRolePolicyDocument=%7B%7D");
        self.role("CreateRole", &wanted);
    }

    fn role(&self, action: &str, wanted: &str) {
        self.moto.query("iam", "2010-05-08", action, wanted);
    }

    /// How many networks carry the session's tag.
    fn vpcs(&self) -> usize {
        let session = self.sandbox.session();
        let wanted = format!("&Filter.1.Name=tag:cp9-session&Filter.1.Value.1={session}");
        let found = self
            .moto
            .query("ec2", "2016-11-15", "DescribeVpcs", &wanted);
        found.matches("<vpcId>").count()
    }

    fn wait_for_role(&self) {
        wait_until(LIMIT, "the role to be made", || {
            self.things().contains(&"services".to_owned()).then_some(())
        });
    }

    fn open(&self) {
        std::fs::remove_file(self.sandbox.path("gate")).expect("the gate");
    }

    /// Everything is there once, known to the state, and nothing else is in the ledger.
    fn assert_converged(&self) {
        self.up().assert_code(0);
        assert_eq!(self.things(), ["events", "services"]);
        let ledger = self.json("destroy/ledger.json");
        let entries = ledger["entries"].as_array().expect("entries").clone();
        let unknown: Vec<&Value> = entries
            .iter()
            .filter(|one| one["in_state"] == false)
            .collect();
        assert_eq!(unknown, Vec::<&Value>::new());
        let known = entries.iter().filter(|one| one["type"] == "resource");
        assert_eq!(known.count(), 2);
    }
}

#[test]
fn when_cp9_alone_is_killed_terraform_goes_on_and_the_next_run_waits_for_it() {
    let Some(given) = given(BODY) else { return };
    given.hold();
    let up = given.sandbox.cp9(["up"]).spawn();
    given.wait_for_role();
    let terraform = children(up.pid());
    up.kill();
    up.wait(LIMIT);
    let alive = |pid: &i32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(terraform.iter().any(alive), "Terraform goes on");
    let again = given.sandbox.cp9(["up", "--json"]).limit(LIMIT).spawn();
    given.open();
    again.wait(LIMIT);
    let log = given.sandbox.read(&format!(
        ".cp9/{}/terraform/logs/apply.jsonl",
        given.sandbox.session()
    ));
    assert!(!log.contains("EntityAlreadyExists"), "{log}");
    given.assert_converged();
    given.destroy();
}

#[test]
fn a_pause_interrupts_a_terraform_that_goes_on_and_lets_it_write_its_state() {
    let Some(given) = given(BODY) else { return };
    given.hold();
    let up = given.sandbox.cp9(["up"]).spawn();
    given.wait_for_role();
    up.kill();
    up.wait(LIMIT);
    let doctor = given.sandbox.cp9(["doctor", "--json"]).run();
    assert!(
        doctor.stdout.contains("terraform-at-work"),
        "{}",
        doctor.stdout
    );
    let pause = given.sandbox.cp9(["pause"]).spawn();
    let began = Instant::now();
    wait_until(LIMIT, "more time than a stray process is given", || {
        (began.elapsed() > Duration::from_secs(8)).then_some(())
    });
    given.open();
    let paused = pause.wait(LIMIT);
    assert_eq!(paused.code, Some(0), "{}", paused.snapshot());
    let state = given.json("terraform/terraform.tfstate").to_string();
    assert!(state.contains("aws_iam_role"), "{state}");
    given.assert_converged();
    given.destroy();
}

#[test]
fn an_interrupt_lets_terraform_write_its_state() {
    let Some(given) = given(BODY) else { return };
    given.hold();
    let up = given.sandbox.cp9(["up"]).spawn();
    given.wait_for_role();
    up.interrupt();
    // What has begun is finished, and then it ends.
    given.open();
    let ended = up.wait(LIMIT);
    assert_eq!(ended.code, Some(130), "{}", ended.snapshot());
    let state = given.json("terraform/terraform.tfstate").to_string();
    assert!(state.contains("aws_iam_role"), "{state}");
    given.assert_converged();
    given.destroy();
}

#[test]
fn killed_at_many_points_of_an_apply_a_re_run_converges() {
    let Some(given) = given(BODY) else { return };
    for after in [150_u64, 400, 700, 1000, 1300, 1700] {
        let up = given.sandbox.cp9(["up"]).spawn();
        let begun = std::time::Instant::now();
        wait_until(LIMIT, "the moment", || {
            (begun.elapsed() >= Duration::from_millis(after)).then_some(())
        });
        let below = children(up.pid());
        up.kill();
        kill(&below);
        up.wait(LIMIT);
    }
    given.assert_converged();
    given.destroy();
}

#[test]
fn a_stranger_of_the_same_name_is_neither_taken_over_nor_destroyed() {
    let Some(given) = given(BODY) else { return };
    let name = format!("{}-services", given.sandbox.session());
    given.make_role(&name);
    let run = given.up();
    assert_ne!(run.code, Some(0), "the name is taken");
    let again = given.up().assert_code(3);
    let error = again.json()["error"].clone();
    assert_eq!(error["code"], "name-taken", "{error}");
    assert!(error.to_string().contains(&name), "{error}");
    given
        .sandbox
        .cp9(["destroy"])
        .limit(LIMIT)
        .run()
        .assert_code(0);
    assert_eq!(given.things(), ["services"], "the stranger is still there");
    given.role("DeleteRole", &format!("&RoleName={name}"));
}

#[test]
fn what_somebody_deleted_is_made_again() {
    let Some(given) = given(BODY) else { return };
    given.up().assert_code(0);
    let name = format!("{}-services", given.sandbox.session());
    given.role("DeleteRole", &format!("&RoleName={name}"));
    assert_eq!(given.things(), ["events"]);
    given.assert_converged();
    given.destroy();
}

#[test]
fn a_destroy_that_fails_stops_nothing_after_it_and_names_what_is_left() {
    let Some(mut given) = given(BODY) else { return };
    given.up().assert_code(0);
    given.sandbox.set_env("CP9_TERRAFORM", "/nowhere/terraform");
    let run = given.sandbox.cp9(["destroy", "--json"]).limit(LIMIT).run();
    assert_eq!(run.code, Some(2), "{}", run.snapshot());
    let data = run.data();
    let stages = data["stages"].as_array().expect("stages");
    let stage = |name: &str| stages.iter().find(|one| one["name"] == name).cloned();
    let substrate = stage("substrate").expect("the stage");
    assert!(
        substrate["error"].to_string().contains("CP9_TERRAFORM"),
        "{substrate}"
    );
    assert!(stage("reaper").is_some() && stage("post-scan").is_some());
    let survivors = data["survivors"].to_string();
    for name in ["services", "events"] {
        assert!(
            survivors.contains(&format!("{}-{name}", given.sandbox.session())),
            "{survivors}"
        );
    }
    given.sandbox.set_env("CP9_TERRAFORM", "");
    given.destroy();
}

#[test]
fn what_only_its_tags_lead_to_is_found_and_made_once() {
    let body = "resource \"aws_vpc\" \"main\" {\n  cidr_block = \"10.61.0.0/16\"\n}\n\
                resource \"aws_vpc\" \"other\" {\n  cidr_block = \"10.62.0.0/16\"\n  \
                tags = { after = aws_vpc.main.id }\n}\n";
    let Some(given) = given(body) else { return };
    given.hold();
    let up = given.sandbox.cp9(["up"]).spawn();
    wait_until(LIMIT, "the network to be made", || {
        (given.vpcs() == 1).then_some(())
    });
    let below = children(up.pid());
    up.kill();
    kill(&below);
    up.wait(LIMIT);
    given.open();
    given.up().assert_code(0);
    assert_eq!(given.vpcs(), 2, "each once");
    given.destroy();
    assert_eq!(given.vpcs(), 0);
}

#[test]
fn a_state_that_could_only_be_written_beside_its_place_is_put_back() {
    let Some(given) = given(BODY) else { return };
    given.up().assert_code(0);
    // What Terraform leaves when it cannot write the state where it belongs.
    let terraform = given.sandbox.folder().join("terraform");
    let errored = terraform.join("source/root/errored.tfstate");
    std::fs::rename(terraform.join("terraform.tfstate"), &errored).expect("the state moved");
    given.assert_converged();
    assert!(!errored.exists(), "it is where it belongs");
    let kept = terraform.join("logs/errored.tfstate");
    assert!(kept.exists(), "and kept for people");
    given.destroy();
}
