//! Override manifests of the session file: what they change is what runs, and what is wrong with them
//! is said at their line.

use cp9_testkit::{Sandbox, http_post};
use serde_json::Value;

use crate::prebuilt;

const FILE: &str = "overrides/worker.yaml";

fn with_override(text: &str) -> Sandbox {
    let sandbox = prebuilt::quickstart();
    let repo = "      repo: ./services/cluster-worker\n";
    let wanted = format!("{repo}      overrides: [./{FILE}]\n");
    sandbox.replace("cp9.yaml", repo, &wanted);
    sandbox.write(FILE, text);
    sandbox
}

/// Regions of the worker's `ConfigMap`, and a variable of its container.
fn regions(region: &str) -> String {
    format!(
        "target: {{kind: ConfigMap, name: cluster-worker}}
set:
  /data/worker.conf: |
    tiers = starter
    regions = {region}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: cluster-worker}}
spec:
  template:
    spec:
      containers:
      - name: cluster-worker
        env: [{{name: ORIGIN, value: cluster-api:8080}}]
"
    )
}

fn region(sandbox: &Sandbox) -> String {
    let api = sandbox.endpoint("cluster-api");
    let url = format!("{api}/v1beta1/projects/p1/clusters");
    let reply = http_post(&url, r#"{"name":"one"}"#).expect("an answer");
    let body: Value = serde_json::from_str(&reply.text()).expect("JSON");
    let region = body["worker"]["region"].as_str();
    region
        .unwrap_or_else(|| panic!("no region in {body}"))
        .to_owned()
}

fn json(sandbox: &Sandbox, below: &str) -> Value {
    let path = format!(".cp9/{}/{below}", sandbox.session());
    serde_json::from_str(&sandbox.read(&path)).expect("JSON")
}

fn find<'a>(list: &'a Value, name: &str) -> &'a Value {
    let items = list.as_array().expect("a list");
    let found = items.iter().find(|item| item["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn an_override_is_in_force_and_its_change_restarts_only_its_service() {
    let sandbox = with_override(&regions("over-1"));
    sandbox.cp9(["up"]).run().assert_code(0);
    assert_eq!(region(&sandbox), "over-1");
    let plan = json(&sandbox, "tilt/dev-plan.json");
    let origin = find(&plan["resources"], "cluster-worker")["env"]["ORIGIN"].clone();
    let api = sandbox.endpoint("cluster-api");
    assert_eq!(origin, api.trim_start_matches("http://"));
    let report = json(&sandbox, "tilt/reports/context-report.json");
    let overrides = &find(&report["services"], "cluster-worker")["overrides"];
    let listed: Vec<(&str, &str)> = overrides
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let word = |key: &str| one[key].as_str().expect("text");
            assert_eq!(word("file"), sandbox.path(FILE));
            (word("target"), word("patch"))
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("ConfigMap/cluster-worker", "set"),
            ("Deployment/cluster-worker", "strategic")
        ]
    );

    let before = sandbox.status();
    sandbox.cp9(["up"]).run().assert_code(0);
    assert_eq!(before["services"], sandbox.status()["services"]);
    sandbox.write(FILE, &regions("over-2"));
    sandbox.cp9(["up"]).run().assert_code(0);
    assert_eq!(region(&sandbox), "over-2");
    let after = sandbox.status();
    let pid = |status: &Value, name: &str| find(&status["services"], name)["pid"].clone();
    assert_eq!(pid(&before, "cluster-api"), pid(&after, "cluster-api"));
    assert_ne!(
        pid(&before, "cluster-worker"),
        pid(&after, "cluster-worker")
    );
    sandbox.destroy();
}

#[test]
fn mistakes_are_said_at_their_line_before_anything_runs() {
    let text = "# one object that is not there\n\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-wroker}\n";
    let sandbox = with_override(text);
    let run = sandbox.cp9(["up"]).run().assert_code(3);
    for words in [
        &format!("{FILE}:5:"),
        "CP9-C320",
        "service `cluster-worker` has no object `ConfigMap/cluster-wroker`",
        "did you mean `ConfigMap/cluster-worker`?",
    ] {
        assert!(run.stderr.contains(words), "{words}\n{}", run.stderr);
    }
    assert_eq!(sandbox.leftovers(), []);
    sandbox.replace("cp9.yaml", FILE, "overrides/none.yaml");
    let run = sandbox.cp9(["up"]).run().assert_code(3);
    for words in [
        "overrides/none.yaml` of service `cluster-worker` does not exist",
        "cp9.yaml:",
    ] {
        assert!(run.stderr.contains(words), "{words}\n{}", run.stderr);
    }
    sandbox.destroy();
}
