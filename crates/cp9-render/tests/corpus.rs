//! Real manifests as people write them: nothing panics, plain directories load. The files lie
//! beside the checkout; where they are absent the tests say so and pass.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::host::HostFacts;
use cp9_model::{Owner, Scope};
use cp9_render::process::{Session, translate};
use cp9_render::{AppTree, ServiceInput, argo, graph, ports_wanted};
use serde_json::json;

fn corpus() -> Option<Utf8PathBuf> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/argo");
    if folder.is_dir() {
        return Some(folder);
    }
    let _ = std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("skipped: no corpus at {folder}\n").as_bytes(),
    );
    None
}

fn read(root: &Utf8Path, below: &Utf8Path, tree: &mut AppTree) {
    for entry in root
        .join(below)
        .read_dir_utf8()
        .expect("a folder of the corpus")
    {
        let entry = entry.expect("an entry");
        let path = below.join(entry.file_name());
        if entry.path().is_dir() {
            read(root, &path, tree);
        } else {
            tree.files.insert(
                path,
                std::fs::read(entry.path()).expect("a file of the corpus"),
            );
        }
    }
}

fn config(app: &str, registry: &str, env: &str) -> ResolvedConfig {
    let service = json!({
        "repo": "/w/src", "build": {"main": "main.go"},
        "app": {"name": app, "registry": registry, "env": env},
    });
    let value = json!({
        "apiVersion": "cp9.tidbcloud.com/v1alpha2", "kind": "Session", "name": "corpus",
        "file": "/w/cp9.yaml", "controller": "embedded", "host": {"mode": "process"},
        "target": {"cloud": "local"}, "appDelivery": {"repo": "/w/apps", "env": env},
        "tilt": {"mode": "up", "port": 10350}, "services": {"source": {"svc": service}},
        "source_build_services": [], "retry": {"total": 5, "on_budget_exceeded": "abort"},
    });
    serde_json::from_value(value).expect("a resolved session file")
}

/// Translates whatever was loaded; only panics would fail.
fn run(config: &ResolvedConfig, inputs: &[ServiceInput]) -> bool {
    let graph = graph::build(config, inputs).expect("one service makes a graph");
    let mut ports: BTreeMap<String, BTreeMap<u16, u16>> = BTreeMap::new();
    for (port, wanted) in (20_001..).zip(ports_wanted(inputs, config)) {
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
    let session = Session {
        config,
        graph: &graph,
        inputs,
        host: &host,
        scope: &scope,
        secrets: &BTreeMap::new(),
        definitions: &BTreeMap::new(),
        aws: None,
        folder: "/w/.cp9/corpus".into(),
    };
    match translate(&session) {
        Ok(_) => true,
        Err(found) => {
            assert!(
                found
                    .iter()
                    .all(|found| found.line > 0 && found.help.is_some()),
                "{found:?}"
            );
            false
        }
    }
}

#[test]
fn every_application_object_is_read_or_refused_with_a_remedy() {
    let Some(corpus) = corpus() else { return };
    let mut tree = AppTree::default();
    read(&corpus.join("manifests"), Utf8Path::new(""), &mut tree);
    let mut refused = 0;
    for (file, bytes) in &tree.files {
        let text = String::from_utf8_lossy(bytes);
        let names = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("name:"))
            .map(str::trim);
        for name in names
            .map(|name| name.trim_matches(['"', '\'']))
            .chain(["no-such-app"])
        {
            let found = argo::load(&config(name, file.as_str(), "dev"), &tree);
            refused += found.expect_err("no manifest lies beside the object").len();
        }
    }
    assert!(
        refused > tree.files.len(),
        "{refused} refusals of {} files",
        tree.files.len()
    );
}

#[test]
fn every_folder_of_a_tree_loads_or_is_refused_with_a_remedy() {
    let Some(corpus) = corpus() else { return };
    let mut tree = AppTree::default();
    read(&corpus.join("apps"), Utf8Path::new(""), &mut tree);
    let mut folders: Vec<Utf8PathBuf> = tree
        .files
        .keys()
        .filter_map(|file| file.parent())
        .map(Utf8Path::to_owned)
        .collect();
    folders.dedup();
    let (mut loaded, mut objects) = (0, 0);
    for folder in folders.iter().filter(|folder| !folder.as_str().is_empty()) {
        for recurse in [false, true] {
            let application = json!({
                "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "svc"},
                "spec": {"source": {"path": folder, "directory": {"recurse": recurse}}},
            });
            tree.files
                .insert("app.json".into(), application.to_string().into_bytes());
            let env = folder.components().next().expect("a segment").as_str();
            let config = config("svc", "app.json", env);
            match argo::load(&config, &tree) {
                Ok(inputs) => {
                    loaded += 1;
                    objects += inputs[0].manifests.len();
                    run(&config, &inputs);
                }
                Err(found) => assert!(found.iter().all(|found| found.line > 0), "{found:?}"),
            }
        }
    }
    assert!(
        loaded > 20 && objects > 50,
        "{loaded} folders, {objects} objects"
    );
}

#[test]
fn a_guestbook_becomes_a_process() {
    let Some(corpus) = corpus() else { return };
    let mut tree = AppTree::default();
    read(&corpus.join("apps"), Utf8Path::new(""), &mut tree);
    let folder = "argocd-example-apps/guestbook";
    if !tree.files.keys().any(|file| file.starts_with(folder)) {
        return;
    }
    let application = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "guestbook"},
        "spec": {"source": {"path": folder}},
    });
    tree.files
        .insert("app.yaml".into(), application.to_string().into_bytes());
    let mut config = config("guestbook", "app.yaml", "guestbook");
    for service in config.services.source.values_mut() {
        service.run.ports.insert("80".to_owned(), "PORT".to_owned());
    }
    let inputs = argo::load(&config, &tree).expect("a plain directory");
    assert!(run(&config, &inputs));
}
