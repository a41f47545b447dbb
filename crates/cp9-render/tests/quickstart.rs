//! The example that newcomers run first translates as its comments promise.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::Check;
use cp9_model::host::HostFacts;
use cp9_model::{Owner, Scope, ServiceName};
use cp9_render::process::{Session, translate};
use cp9_render::{AppTree, argo, graph, ports_wanted};
use serde_json::json;

fn read(root: &Utf8Path, below: &Utf8Path, tree: &mut AppTree) {
    for entry in root
        .join(below)
        .read_dir_utf8()
        .expect("a folder of the example")
    {
        let entry = entry.expect("an entry");
        let path: Utf8PathBuf = below.join(entry.file_name());
        if entry.path().is_dir() {
            read(root, &path, tree);
        } else {
            tree.files.insert(
                path,
                std::fs::read(entry.path()).expect("a file of the example"),
            );
        }
    }
}

fn config() -> ResolvedConfig {
    let service = |name: &str, needs: &[&str]| {
        json!({
            "repo": format!("/w/{name}"), "build": {"main": "src/main.rs"}, "needs": needs,
            "app": {"name": name, "registry": format!("registry/{name}.yaml"), "env": "quickstart"},
        })
    };
    let value = json!({
        "apiVersion": "cp9.tidbcloud.com/v1alpha2", "kind": "Session", "name": "quickstart",
        "file": "/w/cp9.yaml", "controller": "embedded", "host": {"mode": "process"},
        "target": {"cloud": "local"}, "appDelivery": {"repo": "/w/app-delivery", "env": "quickstart"},
        "tilt": {"mode": "up", "port": 10350},
        "services": {"source": {
            "cluster-api": service("cluster-api", &["cluster-worker"]),
            "cluster-worker": service("cluster-worker", &[]),
        }},
        "source_build_services": [], "retry": {"total": 5, "on_budget_exceeded": "abort"},
    });
    serde_json::from_value(value).expect("a resolved session file")
}

#[test]
fn the_quickstart_becomes_two_processes() {
    let mut tree = AppTree::default();
    let example =
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart/app-delivery");
    read(&example, Utf8Path::new(""), &mut tree);
    let config = config();
    let inputs = argo::load(&config, &tree).expect("the example's applications");
    let graph = graph::build(&config, &inputs).expect("a graph");
    let order: Vec<&str> = graph
        .services
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(order, ["cluster-worker", "cluster-api"]);
    let mut ports: BTreeMap<String, BTreeMap<u16, u16>> = BTreeMap::new();
    for (port, wanted) in (20_001..).zip(ports_wanted(&inputs, &config)) {
        ports
            .entry(wanted.service)
            .or_default()
            .insert(wanted.container, port);
    }
    let host = HostFacts {
        api_version: "cp9.host/v1".to_owned(),
        mode: "process".to_owned(),
        id: "id".to_owned(),
        socket: "/w/s".to_owned(),
        ports,
    };
    let scope = Scope {
        owner: Owner::new("local"),
        session: config.name.clone(),
        id: "id".to_owned(),
    };
    let secrets = BTreeMap::new();
    let folder = Utf8Path::new("/w/.cp9/quickstart");
    let session = Session {
        config: &config,
        graph: &graph,
        inputs: &inputs,
        host: &host,
        scope: &scope,
        secrets: &secrets,
        definitions: &BTreeMap::new(),
        folder,
    };
    let rendered = translate(&session).unwrap_or_else(|found| panic!("{found:#?}"));
    let of = |name: &str| &rendered.workloads[&name.parse::<ServiceName>().expect("a name")];
    let (api, worker) = (of("cluster-api"), of("cluster-worker"));
    assert!(
        matches!(api.ready.check, Check::Http { .. })
            && matches!(worker.ready.check, Check::Http { .. })
    );
    assert!(api.built && worker.built && !api.links.is_empty() && !worker.links.is_empty());
    let there = worker.links[0].trim_start_matches("http://");
    assert!(
        api.env.values().any(|value| value.contains(there)),
        "the front knows where the worker listens"
    );
}
