//! The example that newcomers run first translates as its comments promise.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::devplan::Check;
use cp9_model::host::HostFacts;
use cp9_model::{Owner, Scope, ServiceName};
use cp9_render::process::{Session, translate};
use cp9_render::{AppTree, ServiceInput, argo, graph, ports_wanted};

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

/// The example's own session file.
fn config(example: &Utf8Path) -> ResolvedConfig {
    let file = example.join("cp9.quickstart.example.yaml");
    let bytes = std::fs::read(file).expect("the example's session file");
    let loaded = cp9_model::config::load("/w/cp9.yaml".into(), &bytes);
    loaded.unwrap_or_else(|found| panic!("{found:#?}")).resolved
}

/// What the example's env files hold, and the definitions of its stubs; their words do not matter here.
fn values<T: Clone>(
    names: impl Iterator<Item = ServiceName>,
    value: &T,
) -> BTreeMap<ServiceName, T> {
    names.map(|name| (name, value.clone())).collect()
}

/// A host whose ports are all allocated.
fn host(config: &ResolvedConfig, inputs: &[ServiceInput]) -> HostFacts {
    let mut ports: BTreeMap<String, BTreeMap<u16, u16>> = BTreeMap::new();
    for (port, wanted) in (20_001..).zip(ports_wanted(inputs, config)) {
        ports
            .entry(wanted.service)
            .or_default()
            .insert(wanted.container, port);
    }
    HostFacts {
        api_version: "cp9.host/v1".to_owned(),
        mode: "process".to_owned(),
        id: "id".to_owned(),
        socket: "/w/s".to_owned(),
        ports,
    }
}

#[test]
fn the_quickstart_becomes_processes_that_know_each_other() {
    let mut tree = AppTree::default();
    let example = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
    read(&example.join("app-delivery"), Utf8Path::new(""), &mut tree);
    let config = config(&example);
    let inputs = argo::load(&config, &tree).expect("the example's applications");
    let graph = graph::build(&config, &inputs).expect("a graph");
    let place = |name: &str| {
        graph
            .services
            .iter()
            .position(|node| node.name.as_str() == name)
    };
    assert!(place("cluster-worker") < place("cluster-api"));
    let host = host(&config, &inputs);
    let scope = Scope {
        owner: Owner::new("local"),
        session: config.name.clone(),
        id: "id".to_owned(),
    };
    let token = vec![("PROVIDER_TOKEN".to_owned(), "value".to_owned())];
    let secrets = values(config.secrets.keys().cloned(), &token);
    let definitions = values(config.services.stub.keys().cloned(), &b"{}".to_vec());
    let folder = Utf8Path::new("/w/.cp9/quickstart");
    let session = Session {
        config: &config,
        graph: &graph,
        inputs: &inputs,
        host: &host,
        scope: &scope,
        secrets: &secrets,
        definitions: &definitions,
        aws: None,
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
    for (stub, variable) in [
        ("account-svc", "ACCOUNT_ADDR"),
        ("metering", "METERING_URL"),
        ("billing-svc", "BILLING_URL"),
    ] {
        let there = of(stub).links[0].trim_start_matches("http://");
        assert!(worker.env[variable].contains(there), "{stub}");
    }
}
