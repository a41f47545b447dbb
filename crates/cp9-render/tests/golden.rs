//! A whole app-delivery tree in, every rendered file out, compared as one text; and what must hold
//! of the result whatever it is: the same bytes for any order, no secrets, no strange paths.
//! `SNAPSHOTS=overwrite` writes the expected text anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::DevPlan;
use cp9_model::graph::ServiceGraph;
use cp9_model::host::HostFacts;
use cp9_model::{Owner, Scope, ServiceName};
use cp9_render::devplan::{self, Roots};
use cp9_render::process::{Session, translate};
use cp9_render::{AppTree, Rendered, argo, graph, ports_wanted};
use serde_json::Value;

type Secrets = BTreeMap<ServiceName, Vec<(String, String)>>;

/// Everything that goes in.
#[derive(Clone)]
struct Case {
    config: ResolvedConfig,
    tree: AppTree,
    secrets: Secrets,
    definitions: BTreeMap<ServiceName, Vec<u8>>,
}

struct Result {
    graph: ServiceGraph,
    rendered: Rendered,
    plan: DevPlan,
}

fn case() -> Case {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/shop");
    let text = std::fs::read(folder.join("session.json")).expect("the session of the case");
    let value: Value = serde_json::from_slice(&text).expect("JSON");
    let config: ResolvedConfig =
        serde_json::from_value(value["config"].clone()).expect("a resolved session file");
    let secrets = serde_json::from_value(value["secrets"].clone()).expect("secrets");
    let mut tree = AppTree::default();
    read(&folder.join("app-delivery"), Utf8Path::new(""), &mut tree);
    // The paths of the session file lie below `/w/shop`, which is the folder of the case.
    let beside = |path: &str| {
        let below = path.strip_prefix("/w/shop/").expect("a path of the case");
        std::fs::read(folder.join(below)).ok()
    };
    let sources = config.services.source.values();
    for path in sources.flat_map(|source| &source.overrides) {
        let bytes = beside(path).expect("an override of the case");
        tree.overrides.insert(path.into(), bytes);
    }
    let stubs = config.services.stub.iter();
    let definitions = stubs
        .filter_map(|(name, stub)| Some((name.clone(), beside(stub.definition.as_deref()?)?)))
        .collect();
    Case {
        config,
        tree,
        secrets,
        definitions,
    }
}

fn read(root: &Utf8Path, below: &Utf8Path, tree: &mut AppTree) {
    for entry in root
        .join(below)
        .read_dir_utf8()
        .expect("a folder of the case")
    {
        let entry = entry.expect("an entry");
        let path: Utf8PathBuf = below.join(entry.file_name());
        if entry.path().is_dir() {
            read(root, &path, tree);
        } else {
            tree.files.insert(
                path,
                std::fs::read(entry.path()).expect("a file of the case"),
            );
        }
    }
}

fn render(case: &Case) -> Result {
    let Case {
        config,
        tree,
        secrets,
        definitions,
    } = case;
    let inputs = argo::load(config, tree).expect("applications");
    let graph = graph::build(config, &inputs).expect("a graph");
    let mut ports: BTreeMap<String, BTreeMap<u16, u16>> = BTreeMap::new();
    for (port, wanted) in (20_001..).zip(ports_wanted(&inputs, config)) {
        ports
            .entry(wanted.service)
            .or_default()
            .insert(wanted.container, port);
    }
    let host = HostFacts {
        api_version: "cp9.host/v1".to_owned(),
        mode: "process".to_owned(),
        id: "0123456789abcdef".to_owned(),
        socket: "/w/shop/.cp9/golden/controller.sock".to_owned(),
        ports,
    };
    let scope = Scope {
        owner: Owner::new("local"),
        session: config.name.clone(),
        id: host.id.clone(),
    };
    let folder = Utf8Path::new("/w/shop/.cp9/golden");
    let session = Session {
        config,
        graph: &graph,
        inputs: &inputs,
        host: &host,
        scope: &scope,
        secrets,
        definitions,
        folder,
        aws: None,
    };
    let rendered = translate(&session).unwrap_or_else(|found| panic!("{found:#?}"));
    let sources = config
        .services
        .source
        .iter()
        .map(|(name, source)| (name.clone(), source.repo.clone().into()));
    let roots = Roots {
        session: folder.to_owned(),
        cache: "/home/u/.cache/cp9".into(),
        exe: "/home/u/.cargo/bin/cp9".into(),
        sources: sources.collect(),
    };
    let plan = devplan::build(config, &graph, &rendered, &roots, &BTreeMap::new()).expect("a plan");
    Result {
        graph,
        rendered,
        plan,
    }
}

fn text(result: &Result) -> String {
    let mut text = String::new();
    let mut add = |path: &str, content: &str| {
        let _ = writeln!(text, "=== {path}\n{}", content.trim_end());
    };
    for (path, bytes) in &result.rendered.inputs {
        add(
            &format!("tilt/inputs/{path}"),
            &String::from_utf8_lossy(bytes),
        );
    }
    for (service, content) in &result.rendered.secret_files {
        add(&format!("secrets/{service}.env"), content);
    }
    let pretty = |value: &dyn erased::Json| value.pretty();
    add("services/plan.json", &pretty(&result.graph));
    add(
        "tilt/reports/context-report.json",
        &pretty(&result.rendered.report),
    );
    add("tilt/dev-plan.json", &pretty(&result.plan));
    text
}

mod erased {
    //! JSON of unlike values behind one closure.
    pub(super) trait Json {
        fn pretty(&self) -> String;
    }
    impl<T: serde::Serialize> Json for T {
        fn pretty(&self) -> String {
            serde_json::to_string_pretty(self).expect("plain data")
        }
    }
}

#[test]
fn the_whole_tree_is_as_expected() {
    let actual = text(&render(&case()));
    snapbox::assert_data_eq!(actual, snapbox::file!("golden/shop/expected.txt").raw());
}

#[test]
fn any_order_of_the_inputs_gives_the_same_bytes() {
    let case = case();
    let expected = text(&render(&case));
    let mut value = serde_json::to_value(&case.config).expect("plain data");
    reverse(&mut value);
    let turned = Case {
        config: serde_json::from_value(value).expect("the same session file"),
        tree: AppTree {
            files: case.tree.files.into_iter().rev().collect(),
            overrides: case.tree.overrides.into_iter().rev().collect(),
        },
        secrets: case.secrets,
        definitions: case.definitions.into_iter().rev().collect(),
    };
    assert_eq!(text(&render(&turned)), expected);
}

/// Turns the order of every map around.
fn reverse(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let mut turned: Vec<(String, Value)> = std::mem::take(fields).into_iter().collect();
            turned.reverse();
            for (key, mut value) in turned {
                reverse(&mut value);
                fields.insert(key, value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(reverse),
        _ => {}
    }
}

#[test]
fn no_secret_stands_outside_the_secret_files() {
    let mut result = render(&case());
    let hidden = result
        .rendered
        .secret_files
        .values()
        .cloned()
        .collect::<String>();
    result.rendered.secret_files.clear();
    let text = text(&result);
    for secret in ["session-password", "token value with spaces"] {
        assert!(hidden.contains(secret), "{secret}");
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(!text.contains("manifest-password") && !text.contains("bWFuaWZlc3Q"));
}

#[test]
fn no_path_of_the_plan_lies_outside_its_roots() {
    let plan = render(&case()).plan;
    for resource in &plan.resources {
        let files = resource
            .files
            .iter()
            .flat_map(|file| [&file.path, &file.source]);
        let places = resource
            .watch
            .iter()
            .chain(&resource.dirs)
            .chain(&resource.binary)
            .chain(files);
        for place in places.chain([&resource.cwd]) {
            let root = place
                .strip_prefix("${")
                .and_then(|rest| rest.split('}').next());
            assert!(
                root.is_some_and(|root| plan.roots.contains_key(root)),
                "{place}"
            );
        }
    }
    let mut bare = plan;
    let roots = std::mem::take(&mut bare.roots);
    let text = serde_json::to_string(&bare).expect("plain data");
    for root in roots.values() {
        assert!(
            !text.contains(&format!("\"{root}")) && !text.contains(&format!("{root}/")),
            "{root}"
        );
    }
}
