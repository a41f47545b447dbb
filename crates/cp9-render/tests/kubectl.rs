//! Strategic merge patches agree with kubectl, which needs no cluster for this. Where there is no
//! kubectl the test says so and passes.

#![expect(
    clippy::disallowed_methods,
    reason = "the other program of the comparison is started here"
)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use camino::Utf8Path;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_render::{AppTree, argo};
use serde_json::{Value, json};

const PATCHES: [&str; 14] = [
    r#"{"metadata": {"labels": {"a": "1"}, "annotations": {"x": null, "y": "2"}, "finalizers": ["x/y", "a/b"]}}"#,
    r#"{"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/b"], "$setElementOrder/finalizers": ["c/d"]}}"#,
    r#"{"spec": {"replicas": 3, "strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}"#,
    r#"{"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}}"#,
    r#"{"spec": {"template": {"spec": {"tolerations": [{"key": "z"}], "nodeSelector": {"b": "2"}}}}}"#,
    r#"{"spec": {"template": {"spec": {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["q"]}, {"ip": "10.0.0.9", "hostnames": ["r"]}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"imagePullSecrets": [{"name": "two"}, {"name": "one", "$patch": "delete"}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"volumes": [{"name": "data", "emptyDir": null, "hostPath": {"path": "/x"}}, {"name": "more", "emptyDir": {}}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"volumes": [{"name": "data", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"initContainers": [{"name": "init", "image": "i"}], "containers": [{"name": "new", "image": "n"}, {"name": "api", "image": "api:2"}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}, {"name": "api", "args": ["x"], "command": null}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"containers": [{"name": "api", "ports": [{"containerPort": 9}, {"containerPort": 8080, "name": "web"}], "volumeMounts": [{"mountPath": "/b", "name": "data", "subPath": "s"}]}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"containers": [{"$patch": "replace"}, {"name": "only", "image": "o"}]}}}}"#,
    r#"{"spec": {"template": {"spec": {"containers": [{"name": "api", "resources": {"limits": {"cpu": "2"}}, "env": []}]}}}}"#,
];

fn deployment(env: &[String]) -> Value {
    let env: Vec<Value> = env
        .iter()
        .map(|name| json!({"name": name, "value": "old"}))
        .collect();
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "api", "annotations": {"x": "1"}, "finalizers": ["a/b", "c/d"]},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "api"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "template": {
                "metadata": {"labels": {"app": "api"}},
                "spec": {
                    "tolerations": [{"key": "t"}], "nodeSelector": {"a": "1"},
                    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["h"]}],
                    "imagePullSecrets": [{"name": "one"}, {"name": "three"}],
                    "containers": [
                        {"name": "side", "image": "s"},
                        {
                            "name": "api", "image": "api:1", "command": ["/a"], "env": env,
                            "resources": {"limits": {"memory": "1Gi"}},
                            "ports": [{"containerPort": 8080}, {"containerPort": 8081}],
                            "volumeMounts": [{"name": "data", "mountPath": "/a"}, {"name": "data", "mountPath": "/b"}],
                        },
                    ],
                    "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "data", "emptyDir": {}}],
                },
            },
        },
    })
}

/// Some of the letters in some order, another choice for each number.
fn letters(mut number: usize) -> Vec<String> {
    let mut left: Vec<char> = "ABCDE".chars().collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let at = number % (left.len() + 1);
        number /= 2;
        if at < left.len() {
            chosen.push(left.remove(at).to_string());
        } else {
            left.pop();
        }
    }
    chosen
}

/// Variables in many orders, some of them removed.
fn environments() -> impl Iterator<Item = String> {
    (3..17).map(|number| {
        let element = |(at, name): (usize, String)| match (at + number) % 4 {
            0 => json!({"name": name, "$patch": "delete"}),
            _ => json!({"name": name, "value": "new"}),
        };
        let env: Vec<Value> = letters(number * 7)
            .into_iter()
            .enumerate()
            .map(element)
            .collect();
        json!({"spec": {"template": {"spec": {"containers": [{"name": "api", "env": env}]}}}})
            .to_string()
    })
}

/// What kubectl makes of the objects; none where there is no kubectl.
fn kubectl(objects: &[Value], patch: &str) -> Option<Vec<Value>> {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let spawned = Command::new("kubectl")
        .args([
            "patch",
            "--local",
            "--type=strategic",
            "-o",
            "json",
            "-f",
            "-",
            "-p",
            patch,
        ])
        .env("KUBECONFIG", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(list.to_string().as_bytes())
        .expect("kubectl reads");
    drop(stdin);
    let output = child.wait_with_output().expect("kubectl ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{patch}: {said}");
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let values: Vec<Value> = values.map(|value| value.expect("JSON")).collect();
    assert_eq!(values.len(), objects.len());
    Some(values)
}

fn config() -> ResolvedConfig {
    let value = json!({
        "apiVersion": "cp9.tidbcloud.com/v1alpha2", "kind": "Session", "name": "demo",
        "file": "/w/cp9.yaml", "controller": "embedded", "host": {"mode": "process"},
        "target": {"cloud": "local"}, "appDelivery": {"repo": "/w/apps", "env": "dev"},
        "tilt": {"mode": "up", "port": 10350},
        "services": {"live": {"api": {
            "app": {"name": "api", "registry": "r.json", "env": "dev"}, "overrides": ["/w/o.yaml"],
        }}},
        "source_build_services": [], "retry": {"total": 5, "on_budget_exceeded": "abort"},
    });
    serde_json::from_value(value).expect("a resolved session file")
}

/// What cp9 makes of an object.
fn cp9(object: &Value, patch: &str) -> Value {
    let application = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "api"},
        "spec": {"source": {"path": "envs/dev/api"}},
    });
    let mut patch: Value = serde_json::from_str(patch).expect("JSON");
    patch["apiVersion"] = "apps/v1".into();
    patch["kind"] = "Deployment".into();
    patch["metadata"]["name"] = "api".into();
    let mut tree = AppTree::default();
    let mut add = |path: &str, value: &Value| {
        let bytes = value.to_string().into_bytes();
        tree.files.insert(Utf8Path::new(path).to_owned(), bytes);
    };
    add("r.json", &application);
    add("envs/dev/api/a.json", object);
    let bytes = patch.to_string().into_bytes();
    tree.overrides.insert("/w/o.yaml".into(), bytes);
    let inputs = argo::load(&config(), &tree).unwrap_or_else(|found| panic!("{found:#?}"));
    inputs[0].manifests[0].value.clone()
}

#[test]
fn strategic_merges_are_those_of_kubectl() {
    let objects: Vec<Value> = (0..40)
        .map(|number| deployment(&letters(number * 3)))
        .collect();
    let patches = PATCHES.iter().map(|patch| (*patch).to_owned());
    for patch in patches.chain(environments()) {
        let Some(expected) = kubectl(&objects, &patch) else {
            let _ = std::io::stderr().write_all(b"skipped: no kubectl\n");
            return;
        };
        for (object, mut expected) in objects.iter().zip(expected) {
            let mut actual = cp9(object, &patch);
            tidy(&mut actual);
            tidy(&mut expected);
            assert_eq!(actual, expected, "{patch}\n{object}");
        }
    }
}

/// kubectl leaves out empty lists and mappings that its types call optional.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(tidy);
            fields.retain(|_, value| value != &json!([]) && value != &json!({}));
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}
