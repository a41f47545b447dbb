//! Overrides as users write them, and what each mistake says.

use cp9_model::Diagnostic;
use serde_json::{Value, json};

use super::*;

const OBJECTS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: api, labels: {app: api}, finalizers: [a.io/x, b.io/y]}
spec:
  replicas: 1
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - name: api
        image: api:1
        command: [/app/api, serve]
        env: [{name: A, value: '1'}, {name: B, value: '2'}]
        ports: [{name: http, containerPort: 8080}]
      - {name: proxy, image: envoy}
      tolerations: [{key: x}]
      volumes: [{name: data, emptyDir: {}}]
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {TOKEN: hunter2}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {parts: [{name: a}, {name: b}], mode: slow}
";
const FILE: &str = "/w/o.yaml";
const POD: &str = "/spec/template/spec";

struct Layered {
    objects: Vec<Manifest>,
    result: Result<Vec<AppliedOverride>, Vec<Diagnostic>>,
}

fn layered(text: &str) -> Layered {
    let mut objects =
        manifest::read("all.yaml".into(), "/w/all.yaml", OBJECTS.as_bytes()).expect("objects");
    let files = FileTree::from([(FILE.into(), text.as_bytes().to_vec())]);
    let mut layer = Layer {
        service: "api",
        namespace: Some("shop"),
        manifests: &mut objects,
    };
    let result = layer.apply(FILE, &files).expect("the file is there");
    Layered { objects, result }
}

impl Layered {
    fn value(&self, word: &str, pointer: &str) -> Value {
        assert!(self.result.is_ok(), "{:#?}", self.result);
        let object = self.objects.iter().find(|object| object.word() == word);
        let value = object.and_then(|object| object.value.pointer(pointer));
        value.cloned().unwrap_or(Value::Null)
    }
}

/// A patch of the Deployment's pod, as flow YAML.
fn pod(patch: &str) -> Layered {
    layered(&format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: api}}
spec: {{template: {{spec: {patch}}}}}
"
    ))
}

fn api(text: &str) -> String {
    format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: api}}\n{text}")
}

fn refused(text: &str) -> Diagnostic {
    let mut found = layered(text).result.expect_err("a refusal");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = found.remove(0);
    assert_eq!(
        (found.code.as_str(), found.file.as_str()),
        ("CP9-C320", FILE)
    );
    found
}

#[track_caller]
fn refuses(text: &str, line: usize, message: &str, help: &str) {
    let found = refused(text);
    let said = found.help.as_deref().unwrap_or_default();
    assert!(
        found.message.contains(message) && said.contains(help),
        "{}\n{said}",
        found.message
    );
    assert_eq!(found.line, line, "{found:#?}");
}

#[test]
fn lists_merge_by_their_key_and_the_patch_stands_first() {
    let patch =
        "{containers: [{name: api, env: [{name: C, value: '3'}, {name: A, value: 'one'}]}]}";
    let layered = pod(patch);
    let containers = layered.value("Deployment/api", &format!("{POD}/containers"));
    assert_eq!(
        containers[0]["env"],
        json!([
            {"name": "C", "value": "3"},
            {"name": "A", "value": "one"},
            {"name": "B", "value": "2"},
        ])
    );
    assert_eq!(containers[0]["image"], "api:1");
    assert_eq!(containers[1]["name"], "proxy");
    assert_eq!(
        layered.result.expect("applied"),
        [AppliedOverride {
            file: FILE.to_owned(),
            line: 1,
            target: "Deployment/api".to_owned(),
            patch: PatchKind::Strategic,
        }]
    );
}

#[test]
fn lists_without_a_key_are_replaced_and_null_removes() {
    let patch = "{tolerations: [{key: z}], volumes: null, containers: [{name: api, command: [/other], image: null}]}";
    let layered = pod(patch);
    let value = |pointer: &str| layered.value("Deployment/api", &format!("{POD}{pointer}"));
    assert_eq!(value("/tolerations"), json!([{"key": "z"}]));
    assert_eq!(value("/volumes"), Value::Null);
    assert_eq!(value("/containers/0/command"), json!(["/other"]));
    assert_eq!(value("/containers/0/image"), Value::Null);
}

#[test]
fn directives_decide_for_the_element_that_holds_them() {
    let layered = pod(
        "{containers: [{name: proxy, $patch: delete}, {name: api, env: [{$patch: replace}, {name: Z, value: z}]}]}",
    );
    let containers = layered.value("Deployment/api", &format!("{POD}/containers"));
    assert_eq!(containers.as_array().map(Vec::len), Some(1));
    assert_eq!(containers[0]["env"], json!([{"name": "Z", "value": "z"}]));

    let text = api(
        "spec: {strategy: {$patch: replace, type: Recreate}, template: {$patch: merge, spec: {hostNetwork: true}}}\n",
    );
    let layered = self::layered(&text);
    let spec = layered.value("Deployment/api", "/spec");
    assert_eq!(spec["strategy"], json!({"type": "Recreate"}));
    assert_eq!(spec["template"]["spec"]["hostNetwork"], true);
    assert_eq!(spec["template"]["spec"]["volumes"][0]["name"], "data");

    let text = api("spec: {strategy: {$patch: delete}}\n");
    assert_eq!(
        self::layered(&text).value("Deployment/api", "/spec/strategy"),
        Value::Null
    );
    let text = api("spec: {strategy: {$retainKeys: [type], type: Recreate}}\n");
    let strategy = self::layered(&text).value("Deployment/api", "/spec/strategy");
    assert_eq!(strategy, json!({"type": "Recreate"}));
}

#[test]
fn sets_merge_and_lose_what_is_deleted_from_them() {
    let text = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
  finalizers: [c.io/z, b.io/y]
  $deleteFromPrimitiveList/finalizers: [a.io/x]
  $setElementOrder/finalizers: [b.io/y, c.io/z]
";
    let value = layered(text).value("Deployment/api", "/metadata/finalizers");
    assert_eq!(value, json!(["c.io/z", "b.io/y"]));
}

#[test]
fn an_object_can_be_left_out_or_added() {
    let layered = self::layered(&api("$patch: delete\n"));
    assert_eq!(layered.value("Deployment/api", "/kind"), Value::Null);
    assert_eq!(layered.result.expect("applied")[0].patch, PatchKind::Delete);

    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, annotations: {cp9.tidbcloud.com/override: add}}\ndata: {A: b}\n";
    let layered = self::layered(map);
    assert_eq!(layered.value("ConfigMap/extra", "/data/A"), "b");
    assert_eq!(
        layered.value("ConfigMap/extra", "/metadata"),
        json!({"name": "extra"})
    );
    assert_eq!(layered.result.expect("applied")[0].patch, PatchKind::Add);
}

#[test]
fn other_kinds_take_a_json_merge_patch() {
    let head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n";
    let layered = self::layered(&format!(
        "{head}spec: {{parts: [{{name: c}}], mode: null}}\n"
    ));
    assert_eq!(
        layered.value("Widget/w", "/spec"),
        json!({"parts": [{"name": "c"}]})
    );
    assert_eq!(layered.result.expect("applied")[0].patch, PatchKind::Merge);
    refuses(
        &format!("{head}spec:\n  parts:\n  - {{name: a, $patch: delete}}\n"),
        6,
        "`$patch` means nothing for kind `Widget`",
        "null",
    );
}

#[test]
fn several_documents_apply_in_their_order() {
    let text =
        "{target: {kind: Deployment, name: api}, set: {/spec/replicas: 2, /spec/paused: true}}
---
# nothing here
---
target: {kind: Deployment, name: api}
patch:
- {op: test, path: /spec/replicas, value: 2.0}
- {op: replace, path: /spec/replicas, value: 3}
- {op: add, path: /metadata/labels/example.com~1tier, value: web}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {type: NodePort}}
";
    let layered = layered(text);
    assert_eq!(layered.value("Deployment/api", "/spec/replicas"), 3);
    assert_eq!(layered.value("Deployment/api", "/spec/paused"), true);
    assert_eq!(
        layered.value("Deployment/api", "/metadata/labels/example.com~1tier"),
        "web"
    );
    assert_eq!(layered.value("Service/api", "/spec/type"), "NodePort");
    let applied = layered.result.expect("applied");
    let kinds: Vec<(usize, PatchKind)> = applied.iter().map(|one| (one.line, one.patch)).collect();
    assert_eq!(
        kinds,
        [
            (1, PatchKind::Set),
            (5, PatchKind::JsonPatch),
            (14, PatchKind::Strategic)
        ]
    );
}

#[test]
fn objects_that_are_not_there_are_refused_with_those_that_are() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: apii\n";
    refuses(
        text,
        4,
        "service `api` has no object `Deployment/apii`",
        "did you mean `Deployment/api`? objects: `Deployment/api`, `Service/api`, `Secret/keys`, `Widget/w`; to add",
    );
    let text = "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: api}\n";
    refuses(text, 3, "no object", "`Deployment/api of apps/v1`");
    let text = "target: {kind: Service, name: api, namespace: other}\nset: {/spec/type: x}\n";
    refuses(text, 1, "no object `Service/api`", "objects:");
    let add = "apiVersion: v1\nkind: Service\nmetadata:\n  name: api\n  annotations: {cp9.tidbcloud.com/override: add}\n";
    refuses(
        add,
        5,
        "`Service/api` is there already",
        "take the annotation",
    );
    refuses(
        &add.replace("add}", "replace}"),
        5,
        "is not known",
        "write `add`",
    );
}

const ODD_DOCUMENTS: &[(&str, usize, &str, &str)] = &[
    ("- a\n", 1, "is no override", "apiVersion"),
    ("a: b\n", 1, "is no override", "target"),
    (
        "kind: Service\nmetadata: {name: api}\n",
        1,
        "no `apiVersion`",
        "add",
    ),
    (
        "apiVersion: v1\nkind: Service\n",
        1,
        "no `metadata.name`",
        "add",
    ),
    (
        "apiVersion: v1\nkind: 5\nmetadata: {name: api}\n",
        2,
        "`kind` must be text",
        "quotes",
    ),
    (
        "target: {kind: Service, name: api}\n",
        1,
        "not what to change",
        "patch",
    ),
    (
        "target: {kind: Service, name: api}\npatch: x\n",
        2,
        "list of operations",
        "op:",
    ),
    (
        "target: {kind: Service, name: api}\nset: [x]\n",
        2,
        "mapping of JSON pointers",
        "set",
    ),
    (
        "target: {kind: Service, name: api}\nset: {}\npatch: []\n",
        2,
        "both",
        "two documents",
    ),
    (
        "target: {kind: Service, nmae: api}\nset: {}\n",
        1,
        "`nmae`",
        "did you mean `name`?",
    ),
    (
        "target: {kind: Service}\nset: {}\n",
        1,
        "no `target.name`",
        "add",
    ),
    ("target: Service\nset: {}\n", 1, "no `target`", "add"),
    (
        "target: {kind: Service, name: api}\nsett: {}\n",
        2,
        "`sett`",
        "did you mean `set`?",
    ),
];

#[test]
fn documents_of_no_kind_are_refused() {
    for (text, line, message, help) in ODD_DOCUMENTS {
        refuses(text, *line, message, help);
    }
}

const ODD_PATCHES: &[(&str, usize, &str, &str)] = &[
    (
        "spec:\n  template:\n    spec:\n      containers:\n      - image: x\n",
        8,
        "found by its `name`",
        "add `name:`",
    ),
    (
        "spec:\n  template:\n    spec:\n      containers: [x]\n",
        7,
        "holds mappings",
        "mapping",
    ),
    ("spec:\n  $patch: remove\n", 5, "is not known", "delete"),
    (
        "spec:\n  $pach: delete\n",
        5,
        "no directive",
        "did you mean `$patch`?",
    ),
    (
        "spec: {strategy: {$retainKeys: [type], rollingUpdate: {}}}\n",
        4,
        "does not keep",
        "add",
    ),
    (
        "metadata:\n  name: api\n  $deleteFromPrimitiveList/finalizers: a\n",
        5,
        "must be a list",
        "list",
    ),
];

#[test]
fn strategic_mistakes_are_named_where_they_stand() {
    for (patch, line, message, help) in ODD_PATCHES {
        let text = if patch.starts_with("metadata") {
            format!("apiVersion: apps/v1\nkind: Deployment\n{patch}")
        } else {
            api(patch)
        };
        refuses(&text, *line, message, help);
    }
}

const ODD_OPERATIONS: &[(&str, usize, &str, &str)] = &[
    (
        "patch:\n- {op: replace, path: /spec/replica, value: 2}\n",
        3,
        "`/spec/replica` does not exist: `/spec` has no `replica`",
        "did you mean `replicas`?",
    ),
    (
        "patch:\n- {op: remove, path: /spec/replicas/x}\n",
        3,
        "`/spec/replicas` holds no mapping and no list",
        "path",
    ),
    (
        "patch:\n- {op: remove, path: /spec/template/spec/volumes/1}\n",
        3,
        "is a list of 1",
        "from 0",
    ),
    (
        "patch:\n- {op: add, path: /spec/template/spec/volumes/2, value: {}}\n",
        3,
        "is a list of 1",
        "volumes/-`",
    ),
    (
        "patch:\n- {op: ad, path: /x, value: 1}\n",
        3,
        "`ad` is no operation",
        "did you mean `add`?",
    ),
    (
        "patch:\n- {op: add, path: x, value: 1}\n",
        3,
        "`x` is no JSON pointer",
        "begin it with `/`",
    ),
    (
        "patch:\n- {op: add, path: /a~b, value: 1}\n",
        3,
        "no JSON pointer",
        "~0",
    ),
    (
        "patch:\n- {op: add, path: /x}\n",
        3,
        "has no `value`",
        "null",
    ),
    ("patch:\n- {path: /x}\n", 3, "has no `op`", "add `op:`"),
    (
        "patch:\n- {op: add, path: 5, value: 1}\n",
        3,
        "`path` is not text",
        "quotes",
    ),
    ("patch:\n- x\n", 3, "is a mapping", "op:"),
    (
        "patch:\n- {op: move, from: /spec, path: /spec/x}\n",
        3,
        "cannot move into itself",
        "copy",
    ),
    (
        "patch:\n- {op: copy, from: /nope, path: /spec/x}\n",
        3,
        "the object has no `nope`",
        "keys there",
    ),
    (
        "patch:\n- op: test\n  path: /spec/replicas\n  value: 2\n",
        5,
        "does not hold this value",
        "correct",
    ),
    (
        "patch:\n- {op: remove, path: ''}\n",
        3,
        "the object itself cannot be removed",
        "$patch: delete",
    ),
    (
        "patch:\n- {op: replace, path: /metadata/name, value: other}\n",
        1,
        "changes `/metadata/name`",
        "add",
    ),
    (
        "set:\n  /spec/replicas: 2\n  /spec/strategy: x\n",
        4,
        "is a list or mapping",
        "inside",
    ),
    ("set: {/spec/replicas: null}\n", 2, "`null`", "patch:"),
    (
        "set: {/spec/replicas: [1]}\n",
        2,
        "a list or mapping",
        "patch:",
    ),
    (
        "set: {/spec/stratgy/type: x}\n",
        2,
        "has no `stratgy`",
        "did you mean `strategy`?",
    ),
    (
        "set: {/spec/template/spec/volumes/3: x}\n",
        2,
        "list of 1",
        "from 0",
    ),
    (
        "set: {spec.replicas: 2}\n",
        2,
        "no JSON pointer",
        "begin it",
    ),
];

#[test]
fn operations_and_pointers_are_refused_exactly() {
    let head = "target: {kind: Deployment, name: api}\n";
    for (rest, line, message, help) in ODD_OPERATIONS {
        refuses(&format!("{head}{rest}"), *line, message, help);
    }
}

#[test]
fn the_examples_of_the_documentation_apply() {
    let page = include_str!("../../../../docs/overrides.md");
    let blocks = page.split("```yaml\n").skip(1);
    let examples: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    let layered = layered(&examples.join("---\n"));
    let applied = layered.result.as_ref().expect("examples that apply");
    let kinds: Vec<PatchKind> = applied.iter().map(|one| one.patch).collect();
    let expected = [
        PatchKind::Strategic,
        PatchKind::Add,
        PatchKind::JsonPatch,
        PatchKind::Set,
    ];
    assert_eq!(kinds, expected);
    let containers = layered.value("Deployment/api", &format!("{POD}/containers"));
    assert_eq!(containers.as_array().map(Vec::len), Some(1));
    assert_eq!(containers[0]["env"][0]["name"], "LOG_LEVEL");
}

#[test]
fn a_key_twice_is_refused_and_no_value_is_lost_in_silence() {
    let text = "apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 2
  replicas: 3
";
    let found = layered(text).result.expect_err("refused").remove(0);
    assert_eq!((found.line, found.pointer.as_str()), (6, "/spec/replicas"));
    assert_eq!(
        found.message,
        "key `replicas` stands twice, first in line 5"
    );
}

#[test]
fn a_refused_file_names_every_mistake() {
    let text = "target: {kind: Service, name: no}\nset: {/a: 1}\n---\ntarget: {kind: Service, name: api}\nset: {/spec/x/y: 1}\n";
    let found = layered(text).result.expect_err("a refusal");
    let lines: Vec<usize> = found.iter().map(|one| one.line).collect();
    assert_eq!(lines, [1, 5]);
    let broken = layered("a: [\n").result.expect_err("no YAML");
    assert_eq!(broken[0].file, FILE);
}

#[test]
fn no_secret_of_an_override_is_shown() {
    for text in [
        "target: {kind: Secret, name: keys}\nset: {/stringData/TOKEN: [hunter3]}\n",
        "target: {kind: Secret, name: keys}\npatch:\n- {op: test, path: /stringData/TOKEN, value: hunter3}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {TOKEN: hunter3}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {$patch: hunter3, TOKEN: hunter3}\n",
    ] {
        let found = refused(text);
        let shown = format!("{found:?}");
        assert!(!shown.contains("hunter"), "{shown}");
    }
}

#[test]
fn later_problems_name_the_override() {
    let layered = pod("{containers: [{name: api, env: [{name: C, value: '3'}]}]}");
    let object = &layered.objects[0];
    let found = object.problem(problem::ENV, "/spec", "wrong", "mend it");
    let help = found.help.expect("help");
    assert_eq!(help, "mend it; Deployment/api is overridden by `/w/o.yaml`");
}

/// Any JSON with the words that merges look for.
fn any_patch() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let word = "(name|env|\\$patch|\\$retainKeys|\\$deleteFromPrimitiveList/finalizers|containers|ports|containerPort|delete|replace|merge|a|b)";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_u32).prop_map(Value::from),
        "(delete|replace|merge|a|b)".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[-a-z:{}\\[\\]$/~\"'\n #&*!|>]{0,120}", rest in "\\PC{0,40}") {
        let _ = layered(&text).result;
        let _ = layered(&api(&rest)).result;
        let _ = layered(&format!("target: {{kind: Deployment, name: api}}\nset: {{{rest}: 1}}\n")).result;
    }

    #[test]
    fn a_patch_leaves_no_directive_and_changes_nothing_the_second_time(
        original in any_patch(),
        patch in any_patch(),
    ) {
        let original = json!({"spec": {"template": {"spec": original}}});
        let patch = json!({"spec": {"template": {"spec": patch}}});
        // What stands in the manifests is nobody's patch, whatever it looks like.
        let original = serde_json::from_str(&original.to_string().replace('$', "")).expect("JSON");
        if let Ok(Some(once)) = strategic::merge(&original, &patch, "Deployment") {
            proptest::prop_assert!(!once.to_string().contains('$'), "{once}");
            let twice = strategic::merge(&once, &patch, "Deployment");
            proptest::prop_assert_eq!(twice, Ok(Some(once)));
        }
    }
}
