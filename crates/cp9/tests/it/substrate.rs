//! A Terraform substrate from `up` to `destroy`: the real program, a provider that makes real things in moto.

use std::env;
use std::time::Duration;

use cp9_testkit::aws::{ACCOUNT, Keys, Moto, PRINCIPAL, REGION};
use cp9_testkit::{Run, Sandbox, skip, wait_until};
use serde_json::Value;

use crate::prebuilt::CP9;

const OWNER: &str = "nightly@example.com";
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// The head of every root: provider, tags, and the file that holds creates.
const HEAD: &str = r#"
terraform {
  required_providers {
    aws = { source = "example.com/cp9/aws" }
  }
}
variable "cp9_region" { type = string }
variable "cp9_session" { type = string }
variable "cp9_tags" { type = map(string) }
variable "hold" {
  type    = string
  default = ""
}
provider "aws" {
  region = var.cp9_region
  hold   = var.hold
  default_tags {
    tags = var.cp9_tags
  }
}
"#;

pub(crate) const BODY: &str = r#"
resource "aws_iam_role" "services" {
  name               = "${var.cp9_session}-services"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}
resource "aws_sqs_queue" "events" {
  name = "${var.cp9_session}-events"
  tags = { role = aws_iam_role.services.name }
}
output "role_arn" {
  value = aws_iam_role.services.arn
}
"#;

/// Made in two calls, as tags of a bucket come after it.
const BUCKET: &str = r#"
resource "aws_s3_bucket" "dump" {
  bucket = "${var.cp9_session}-dump"
}
"#;

/// A session with a substrate.
pub(crate) struct Given {
    pub(crate) sandbox: Sandbox,
    keys: Keys,
    pub(crate) moto: &'static Moto,
}

/// The session; none where something of the lab is missing.
pub(crate) fn given(body: &str) -> Option<Given> {
    let moto = Moto::shared()?;
    let Some(provider) = env::var("CP9_LAB_PROVIDER")
        .ok()
        .filter(|at| !at.is_empty())
    else {
        skip(
            "provider",
            "not installed, see `cargo xtask tools provider`",
        );
        return None;
    };
    let mut sandbox = Sandbox::new(CP9);
    if !["terraform", "tofu"].iter().any(|name| on_path(name)) {
        let Some(program) = installed_tofu() else {
            skip("terraform", "neither terraform nor tofu is there");
            return None;
        };
        sandbox.set_env("CP9_TERRAFORM", &program);
    }
    let keys = sandbox.on_aws(&moto.url());
    let mirror = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"{provider}/mirror\"\n  }}\n}}\n"
    );
    sandbox.write("terraform.rc", &mirror);
    let config = sandbox.path("terraform.rc").to_string();
    sandbox.set_env("TF_CLI_CONFIG_FILE", &config);
    sandbox.set_env("CP9_OWNER", OWNER);
    sandbox.write("infra/root/main.tf", &format!("{HEAD}{body}"));
    sandbox.write("infra/premium.tfvars", "hold = \"\"\n");
    let name = sandbox.session().to_owned();
    sandbox.write(
        "cp9.yaml",
        &format!(
            "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: {name}\nhost:\n  ttl: 8h\n\
             target:\n  cloud: aws\n  region: {REGION}\n  aws:\n    account_allowlist: [\"{ACCOUNT}\"]\n\
             terraform:\n  repo: ./infra\n  path: root\n  var_file: premium.tfvars\n  state: local\n\
             ci:\n  owner_allowlist:\n    {PRINCIPAL}: [{OWNER}]\n"
        ),
    );
    Some(Given {
        sandbox,
        keys,
        moto,
    })
}

/// The `OpenTofu` that the lab has built.
pub(crate) fn installed_tofu() -> Option<String> {
    let folder = env::var("CP9_LAB_TOFU").ok().filter(|at| !at.is_empty())?;
    Some(format!("{folder}/tofu"))
}

fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

impl Given {
    pub(crate) fn up(&self) -> Run {
        self.sandbox.cp9(["up", "--json"]).limit(LIMIT).run()
    }

    pub(crate) fn destroy(&self) {
        self.sandbox
            .cp9(["destroy"])
            .limit(LIMIT)
            .run()
            .assert_code(0);
        self.sandbox.assert_nothing_left();
        assert_eq!(
            self.things(),
            Vec::<String>::new(),
            "nothing is left in the emulator"
        );
        assert_eq!(
            self.keys.leaks(self.sandbox.root()),
            Vec::<camino::Utf8PathBuf>::new()
        );
    }

    /// What of this session exists: its roles and queues, by name.
    pub(crate) fn things(&self) -> Vec<String> {
        let begin = format!("{}-", self.sandbox.session());
        let roles = self.moto.query("iam", "2010-05-08", "ListRoles", "");
        let roles = roles.split("<RoleName>").skip(1);
        let queues = self.moto.query("sqs", "2012-11-05", "ListQueues", "");
        let queues = queues.split("<QueueUrl>").skip(1);
        let queues = queues.filter_map(|rest| rest.split('<').next()?.rsplit('/').next());
        let mut all: Vec<String> = roles
            .filter_map(|rest| rest.split('<').next())
            .chain(queues)
            .filter(|name| name.starts_with(&begin))
            .map(|name| name[begin.len()..].to_owned())
            .collect();
        all.sort();
        all
    }

    pub(crate) fn json(&self, below: &str) -> Value {
        let path = self.sandbox.folder().join(below);
        let text = std::fs::read_to_string(&path).expect("a file of the session");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Holds every create from now on, after its thing was made, until the gate is removed.
    pub(crate) fn hold(&self) {
        let gate = self.sandbox.path("gate");
        self.sandbox.write("gate", "");
        self.sandbox
            .write("infra/premium.tfvars", &format!("hold = \"{gate}\"\n"));
    }

    /// Runs `up` with every create held after its thing was made, and ends everything once the role is there.
    fn cut_before_the_state_is_written(&self) {
        self.hold();
        let up = self.sandbox.cp9(["up"]).spawn();
        wait_until(LIMIT, "the role to be made", || {
            self.things().contains(&"services".to_owned()).then_some(())
        });
        power_cut(up);
    }
}

#[test]
fn a_substrate_is_made_kept_and_destroyed() {
    let Some(given) = given(&format!("{BODY}{BUCKET}")) else {
        return;
    };
    let up = given.up().assert_code(0);
    let words = ["substrate_init", "substrate_plan", "substrate_apply"];
    let states = up.data()["states"].as_array().expect("states").clone();
    for word in words {
        let state = states
            .iter()
            .find(|state| state["name"] == word)
            .expect("the state");
        assert_eq!(state["status"], "done", "{state}");
    }
    assert_eq!(given.things(), ["events", "services"]);
    let arn = given.json("terraform/outputs.json")["role_arn"]["value"].clone();
    let wanted = format!(
        "arn:aws:iam::{ACCOUNT}:role/{}-services",
        given.sandbox.session()
    );
    assert_eq!(arn, wanted);
    let journal = std::fs::read(given.sandbox.folder().join("state.json")).expect("the journal");
    let again = given.up().assert_code(0);
    let kept = again.data()["states"].as_array().expect("states").clone();
    let apply = kept
        .iter()
        .find(|state| state["name"] == "substrate_apply")
        .expect("it");
    assert_eq!(apply["status"], "kept", "{apply}");
    let after = std::fs::read(given.sandbox.folder().join("state.json")).expect("the journal");
    assert_eq!(journal, after, "nothing was done twice");
    assert!(
        !given.sandbox.path("infra/root/.terraform").exists(),
        "the checkout is as it was"
    );
    given.destroy();
}

#[test]
fn what_a_substrate_must_not_make_never_reaches_the_apply() {
    let cases = [
        (
            "resource \"aws_eks_cluster\" \"c\" {\n  name = \"${var.cp9_session}-c\"\n}\n",
            "aws_eks_cluster.c",
        ),
        (
            "resource \"aws_sqs_queue\" \"q\" {\n  name = \"shared-q\"\n}\n",
            "aws_sqs_queue.q",
        ),
    ];
    for (body, address) in cases {
        let Some(given) = given(body) else { return };
        let run = given.up().assert_code(3);
        let error = run.json()["error"].to_string();
        assert!(error.contains(address), "{error}");
        assert_eq!(given.things(), Vec::<String>::new());
        given.destroy();
    }
    let Some(given) = given(BODY) else { return };
    given.sandbox.replace(
        "infra/root/main.tf",
        "    tags = var.cp9_tags\n",
        "    tags = {}\n",
    );
    let run = given.up().assert_code(3);
    let error = run.json()["error"].to_string();
    assert!(
        error.contains("aws_sqs_queue.events") && error.contains("cp9-owner"),
        "{error}"
    );
    assert_eq!(given.things(), Vec::<String>::new());
    given.destroy();
}

#[test]
fn killed_between_create_and_state_write_a_re_run_makes_no_second_one() {
    let Some(given) = given(BODY) else { return };
    given.cut_before_the_state_is_written();
    let ledger = given.json("destroy/ledger.json").to_string();
    let orphan = format!("{}-services", given.sandbox.session());
    assert!(
        ledger.contains(&orphan),
        "the ledger names the orphan: {ledger}"
    );
    std::fs::remove_file(given.sandbox.path("gate")).expect("the gate");
    given.up().assert_code(0);
    assert_eq!(given.things(), ["events", "services"]);
    given.destroy();
}

#[test]
fn killed_between_create_and_state_write_a_destroy_leaves_nothing_unsaid() {
    let Some(given) = given(BODY) else { return };
    given.cut_before_the_state_is_written();
    std::fs::remove_file(given.sandbox.path("gate")).expect("the gate");
    let run = given.sandbox.cp9(["destroy", "--json"]).limit(LIMIT).run();
    // What is there after all is named; a thing that was begun and may be there is too.
    let told = run.data()["survivors"].to_string();
    for thing in given.things() {
        assert!(told.contains(&thing), "{thing} is not in {told}");
    }
    assert!(matches!(run.code, Some(0 | 2)), "{}", run.snapshot());
    given.destroy();
}

#[test]
fn killed_wherever_it_stands_an_apply_is_finished_by_the_next_run() {
    let Some(given) = given(BODY) else { return };
    let is_running = |state: &str| {
        let path = given.sandbox.folder().join("state.json");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let journal: Value = serde_json::from_str(&text).unwrap_or_default();
        journal["states"][state]["status"] == "running"
    };
    let moments: [Moment; 4] = [
        ("the plan", &|| is_running("substrate_plan")),
        ("the apply", &|| is_running("substrate_apply")),
        ("the first thing", &|| !given.things().is_empty()),
        ("the last thing", &|| given.things().len() == 2),
    ];
    for (what, has_come) in moments {
        let up = given.sandbox.cp9(["up"]).spawn();
        wait_until(LIMIT, what, || has_come().then_some(()));
        power_cut(up);
    }
    given.up().assert_code(0);
    assert_eq!(given.things(), ["events", "services"]);
    let state = given.json("terraform/terraform.tfstate");
    assert_eq!(state["resources"].as_array().map(Vec::len), Some(2));
    given.destroy();
}

/// Ends cp9, Terraform and its provider at once.
fn power_cut(up: cp9_testkit::Background) {
    let below = children(up.pid());
    up.kill();
    for pid in below {
        let kill = std::process::Command::new("kill")
            .args(["-9", &pid.to_string()])
            .stderr(std::process::Stdio::null())
            .status();
        assert!(kill.expect("kill starts").code().is_some());
    }
    up.wait(LIMIT);
}

/// A moment of a run, and how to tell that it has come.
type Moment<'a> = (&'a str, &'a dyn Fn() -> bool);

/// Every process below another one.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let mut waiting = vec![pid];
    while let Some(parent) = waiting.pop() {
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let below = text
                .split_whitespace()
                .filter_map(|pid| pid.parse::<i32>().ok());
            waiting.extend(below.clone());
            found.extend(below);
        }
    }
    found
}
