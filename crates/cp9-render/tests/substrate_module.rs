//! Our own Terraform root, read with a parser of HCL: kinds, tags, names, variables, outputs. Where there is a
//! Terraform, it judges the format too.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cp9_model::substrate::never;
use hcl::{Block, Body};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../terraform/aws/cp9-substrate")
}

fn parse(name: &str) -> Body {
    let text = std::fs::read_to_string(folder().join(name)).expect(name);
    hcl::parse(&text).expect(name)
}

/// Every block of the root.
fn blocks() -> Vec<Block> {
    let files = ["main.tf", "outputs.tf", "variables.tf", "versions.tf"];
    let bodies = files.iter().map(|name| parse(name));
    bodies
        .flat_map(|body| body.blocks().cloned().collect::<Vec<_>>())
        .collect()
}

fn of(kind: &str) -> Vec<Block> {
    let all = blocks().into_iter();
    all.filter(|block| block.identifier() == kind).collect()
}

fn label(block: &Block, at: usize) -> String {
    block.labels()[at].as_str().to_owned()
}

fn labels(kind: &str) -> BTreeSet<String> {
    of(kind).iter().map(|block| label(block, 0)).collect()
}

/// An attribute as it would be written.
fn written(block: &Block, name: &str) -> Option<String> {
    let attribute = block.body().attributes().find(|one| one.key() == name)?;
    hcl::format::to_string(attribute.expr()).ok()
}

#[test]
fn it_makes_no_kind_that_a_substrate_must_not_make() {
    let resources = of("resource");
    assert!(resources.len() >= 15, "{}", resources.len());
    for resource in &resources {
        let kind = label(resource, 0);
        assert_eq!(never(&kind), None, "{kind}");
        let inner: Vec<_> = resource.body().blocks().map(Block::identifier).collect();
        assert!(!inner.contains(&"provisioner"), "{kind}");
    }
    assert_eq!(of("module").len(), 0, "it stands alone");
    for data in of("data") {
        let kind = label(&data, 0);
        assert!(
            !matches!(kind.as_str(), "external" | "terraform_remote_state"),
            "{kind}"
        );
    }
    let terraform = &of("terraform")[0];
    assert!(
        terraform
            .body()
            .blocks()
            .all(|block| block.identifier() != "backend")
    );
}

#[test]
fn the_provider_tags_everything_and_has_no_identity_of_its_own() {
    let providers = of("provider");
    assert_eq!(providers.len(), 1);
    let provider = &providers[0];
    assert_eq!(
        written(provider, "region").as_deref(),
        Some("var.cp9_region")
    );
    let names: BTreeSet<_> = provider
        .body()
        .attributes()
        .map(|one| one.key().to_owned())
        .collect();
    assert_eq!(
        names,
        BTreeSet::from(["allowed_account_ids".to_owned(), "region".to_owned()])
    );
    let tags = provider
        .body()
        .blocks()
        .find(|block| block.identifier() == "default_tags");
    assert_eq!(
        written(tags.expect("default tags"), "tags").as_deref(),
        Some("var.cp9_tags")
    );
    for resource in of("resource") {
        let own = written(&resource, "tags").unwrap_or_default();
        assert!(!own.contains("cp9-"), "{}: {own}", label(&resource, 1));
    }
    let host = of("resource")
        .into_iter()
        .find(|one| label(one, 0) == "aws_instance");
    let volumes = written(&host.expect("the host"), "volume_tags");
    assert_eq!(
        volumes.as_deref(),
        Some("var.cp9_tags"),
        "default tags do not reach volumes"
    );
}

#[test]
fn every_name_begins_with_the_session() {
    let locals = of("locals");
    let wanted = locals[0]
        .body()
        .attributes()
        .find(|one| one.key() == "wanted")
        .expect("names");
    let text = hcl::format::to_string(wanted.expr()).expect("text");
    assert_eq!(
        text.matches("name").count(),
        text.matches("\"${var.cp9_session}-").count()
    );
    for resource in of("resource") {
        let kind = label(&resource, 0);
        if kind == "aws_iam_role_policy_attachment" {
            continue;
        }
        for attribute in ["name", "identifier", "bucket", "name_prefix"] {
            if let Some(name) = written(&resource, attribute) {
                let good =
                    name.starts_with("local.name.") || name.starts_with("\"${var.cp9_session}");
                assert!(good, "{kind}: {name}");
            }
        }
    }
}

#[test]
fn optional_parts_are_off_and_var_files_set_only_what_is_declared() {
    let declared = labels("variable");
    for ours in ["account", "owner", "region", "session", "tags"] {
        assert!(declared.contains(&format!("cp9_{ours}")), "{ours}");
    }
    for name in ["premium.tfvars", "dev-full.tfvars"] {
        let body = parse(name);
        let set: BTreeMap<_, _> = body
            .attributes()
            .map(|one| (one.key().to_owned(), one.expr()))
            .collect();
        for key in set.keys() {
            assert!(
                declared.contains(key) && !key.starts_with("cp9_"),
                "{name}: {key}"
            );
        }
    }
    let premium = parse("premium.tfvars");
    let set: BTreeSet<_> = premium
        .attributes()
        .map(|one| one.key().to_owned())
        .collect();
    assert_eq!(
        set,
        BTreeSet::from(["iam".to_owned(), "metadb".to_owned()]),
        "IAM and metadb alone"
    );
    // What costs is there only where it was asked for.
    for resource in of("resource") {
        let counted = written(&resource, "count").or_else(|| written(&resource, "for_each"));
        let counted = counted.expect("every resource is behind a flag");
        assert!(
            counted.contains("var."),
            "{}: {counted}",
            label(&resource, 1)
        );
    }
}

#[test]
fn what_apps_consume_is_an_output() {
    let outputs = labels("output");
    for name in [
        "iam_role_arn",
        "metadb_endpoint",
        "metadb_secret_arn",
        "remote_host",
        "secret_arns",
        "starter_source_image_repositories",
    ] {
        assert!(outputs.contains(name), "{name}");
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the real program judges the format"
)]
fn terraform_finds_the_format_right() {
    let program = ["terraform", "tofu"].into_iter().find(|name| {
        let asked = std::process::Command::new(name).arg("version").output();
        asked.is_ok_and(|output| output.status.success())
    });
    let Some(program) = program else {
        let _ = writeln!(std::io::stderr(), "SKIP: terraform: not on PATH");
        return;
    };
    let output = std::process::Command::new(program)
        .args(["fmt", "-check", "-recursive", "-diff"])
        .arg(folder())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}
