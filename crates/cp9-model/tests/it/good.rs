//! Files that are right, and what they resolve to.

use std::path::Path;

use camino::Utf8Path;
use cp9_model::config::adapters::Support;
use cp9_model::config::resolved::{ControllerKind, HostMode};
use cp9_model::config::{self, Loaded, resolved_yaml};
use snapbox::{Assert, Data};

fn load(text: &str) -> Loaded {
    config::load_for(
        Utf8Path::new("/home/me/app/cp9.yaml"),
        text.as_bytes(),
        Support::Everything,
    )
    .expect("a right file")
}

fn full() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/full.yaml");
    std::fs::read_to_string(file).expect("file")
}

const HEAD: &str = "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: abc\n";

#[test]
fn every_block_resolves() {
    let loaded = load(&full());
    let text = resolved_yaml(&loaded.resolved);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good/full.resolved.txt");
    Assert::new()
        .action_env("SNAPSHOTS")
        .eq(&text, Data::read_from(&file, None));
    let back: config::resolved::ResolvedConfig = serde_saphyr::from_str(&text).expect("reads back");
    assert_eq!(back, loaded.resolved);
}

#[test]
fn secret_values_go_nowhere_else() {
    let loaded = load(&full());
    let (_, values) = loaded.secret_values.first_key_value().expect("values");
    assert_eq!(values["TOKEN"], "s3cret");
    assert_eq!(values["KEY"], "a: b");
    let shown = format!(
        "{loaded:?}{}{}",
        resolved_yaml(&loaded.resolved),
        serde_json::to_string(&loaded.resolved).expect("JSON")
    );
    assert!(!shown.contains("s3cret") && shown.contains("TOKEN"));
}

#[test]
fn a_bare_stub_is_permissive_and_warned_about() {
    let loaded = load(&full());
    assert_eq!(loaded.warnings.len(), 1, "{:?}", loaded.warnings);
    assert_eq!(
        (
            loaded.warnings[0].code.as_str(),
            loaded.warnings[0].pointer.as_str()
        ),
        ("CP9-C031", "/services/stub/bare")
    );
    let bare = loaded
        .resolved
        .services
        .stub
        .iter()
        .find(|(name, _)| name.as_str() == "bare");
    assert_eq!(bare.map(|(_, stub)| stub.kind.as_str()), Some("undefined"));
}

#[test]
fn the_smallest_file_is_a_process_session() {
    for text in [
        HEAD.to_owned(),
        format!("\u{feff}---\r\n{}...\r\n", HEAD.replace('\n', "\r\n")),
        format!("{HEAD}services:\nhost:\ntilt: {{}}\n"),
    ] {
        let loaded = config::load(Utf8Path::new("/w/cp9.yaml"), text.as_bytes()).expect("loads");
        let session = loaded.resolved;
        assert_eq!(
            (session.controller, session.host.mode),
            (ControllerKind::Embedded, HostMode::Process)
        );
        assert_eq!(
            (
                session.tilt.port,
                session.retry.total,
                session.retry.attempts("host_ready")
            ),
            (10350, 5, 3)
        );
        assert!(session.app_delivery.is_none() && session.services.source.is_empty());
    }
}

#[test]
fn paths_follow_the_file_and_urls_stay() {
    let text = format!(
        "{HEAD}appDelivery: {{repo: ./../d/./x/, env: dev}}\nservices:\n  source:\n    a: {{repo: 'git@h:o/r', build: {{main: ./src/main.rs}}, app: {{registry: ./r.yaml}}}}\n    b: {{repo: '../${{name}}', build: {{main: main.go}}, app: {{registry: r.yaml, env: other}}}}\n"
    );
    let session = load(&text).resolved;
    assert_eq!(session.app_delivery.expect("block").repo, "/home/me/d/x");
    let mut sources = session.services.source.into_values();
    let (a, b) = (sources.next().expect("a"), sources.next().expect("b"));
    assert_eq!(
        (
            a.repo.as_str(),
            a.build.main.as_deref(),
            a.app.registry.as_str()
        ),
        ("git@h:o/r", Some("src/main.rs"), "r.yaml")
    );
    assert_eq!((a.app.name.as_str(), a.app.env.as_str()), ("a", "dev"));
    assert_eq!(
        (b.repo.as_str(), b.app.env.as_str()),
        ("/home/me/abc", "other")
    );
}

#[test]
fn resolving_is_deterministic() {
    assert_eq!(
        resolved_yaml(&load(&full()).resolved),
        resolved_yaml(&load(&full()).resolved)
    );
}

#[test]
fn anchors_and_merge_keys_work_in_a_session_file() {
    let text = format!(
        "{HEAD}appDelivery: {{repo: ., env: dev}}\nservices:\n  source:\n    a: &a {{repo: ., build: {{main: m.rs}}, app: {{registry: r.yaml}}}}\n    b: {{<<: *a, needs: [a]}}\n"
    );
    let session = load(&text).resolved;
    assert_eq!(session.services.source.len(), 2);
    assert_eq!(session.source_build_services.len(), 2);
}

#[test]
fn odd_places_of_the_file_do_not_panic() {
    for file in ["cp9.yaml", "", "/", "./x/cp9.yaml", "../cp9.yaml"] {
        let found = config::load(Utf8Path::new(file), HEAD.as_bytes());
        let found = found.map(|_| ()).expect_err("no absolute folder");
        assert_eq!(
            (found[0].line, found[0].code.as_str()),
            (1, "CP9-C026"),
            "{file}"
        );
    }
    let deep = format!("/{}/cp9.yaml", "d".repeat(200));
    assert!(config::load(Utf8Path::new(&deep), HEAD.as_bytes()).is_ok());
}

#[test]
fn a_form_without_a_rule_of_its_own_is_still_refused() {
    let text = format!("{HEAD}host: {{mode: local-k3d, k3d: {{memory: lots}}}}\n");
    let file = Utf8Path::new("/w/cp9.yaml");
    let found = config::load_for(file, text.as_bytes(), Support::Everything).expect_err("refused");
    assert_eq!(
        (
            found[0].code.as_str(),
            found[0].pointer.as_str(),
            found[0].column
        ),
        ("CP9-C015", "/host/k3d/memory", 39)
    );
}
