//! Working copies of small checkouts.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::{ResolvedConfig, Terraform};
use cp9_model::substrate::SessionTags;
use cp9_model::{Diagnostic, Owner};

use super::*;
use crate::tree::FileTree;

fn config() -> ResolvedConfig {
    crate::process::tests::config(&serde_json::json!({}))
}

fn terraform(var_file: Option<&str>) -> Terraform {
    Terraform {
        repo: "/repo".into(),
        git_ref: None,
        path: "terraform/root".into(),
        var_file: var_file.map(str::to_owned),
        state: "local".into(),
    }
}

fn tree(files: &[(&str, &str)]) -> FileTree {
    files
        .iter()
        .map(|(path, text)| (Utf8PathBuf::from(*path), text.as_bytes().to_vec()))
        .collect()
}

fn given() -> Values {
    let session = "demo".parse().expect("a name");
    Values {
        tags: SessionTags::new(Owner::new("a\"b${c}@x.y"), session, Some("8h")),
        account: "111122223333".into(),
        region: "us-west-2".into(),
    }
}

fn copy(files: &[(&str, &str)], var_file: Option<&str>) -> Result<WorkingCopy, Vec<Diagnostic>> {
    let state = Utf8Path::new("/s/terraform.tfstate");
    working_copy(
        &config(),
        &terraform(var_file),
        &tree(files),
        &given(),
        state,
    )
}

const ROOT: &str = "terraform/root/main.tf";

#[test]
fn only_declared_variables_are_given_and_every_text_is_itself() {
    let root = "variable \"cp9_owner\" {}\nvariable \"cp9_tags\" {\n type = map(string)\n}\n";
    let copy = copy(&[(ROOT, root)], None).expect("a copy");
    let values: serde_json::Value = serde_json::from_slice(&copy.values).expect("JSON");
    assert_eq!(
        values,
        serde_json::json!({
            "cp9_owner": "a\"b${c}@x.y",
            "cp9_tags": {"cp9-managed": "terraform-substrate", "cp9-owner": "a\"b${c}@x.y",
                         "cp9-session": "demo", "cp9-ttl": "8h"}
        })
    );
    assert_eq!(copy.root, "terraform/root");
    let added = &copy.tree[Utf8Path::new("terraform/root/cp9_override.tf.json")];
    assert!(String::from_utf8_lossy(added).contains("/s/terraform.tfstate"));
}

#[test]
fn what_lies_about_in_a_checkout_stays_there() {
    let files = [
        (ROOT, ""),
        ("terraform/root/terraform.tfvars", "x = 1"),
        ("terraform/root/me.auto.tfvars", "x = 1"),
        ("terraform/root/terraform.tfstate", "{}"),
        ("terraform/root/terraform.tfstate.backup", "{}"),
        ("terraform/root/.terraform/providers/x", "binary"),
        ("terraform/root/.terraform.lock.hcl", "provider"),
        ("terraform/root/policies/p.json", "{}"),
    ];
    let copy = copy(&files, None).expect("a copy");
    let names: Vec<_> = copy.tree.keys().map(|path| path.as_str()).collect();
    assert_eq!(
        names,
        [
            "terraform/root/.terraform.lock.hcl",
            "terraform/root/cp9_override.tf.json",
            "terraform/root/main.tf",
            "terraform/root/policies/p.json"
        ]
    );
}

#[test]
fn modules_and_files_beside_the_root_are_asked_for() {
    let files = tree(&[
        (
            ROOT,
            "module \"a\" {\n source = \"../modules/a\"\n}\nmodule \"r\" {\n source = \"hashicorp/x/aws\"\n}\n\
                locals {\n f = file(\"${path.module}/../files/f.json\")\n g = \"${path.module}/../g/${var.x}.txt\"\n o = \"${path.module}/../../../../etc/passwd\"\n}\n",
        ),
        (
            "terraform/root/j.tf.json",
            r#"{"module":{"b":{"source":"./b"},"c":{"source":"../modules/c"}}}"#,
        ),
    ]);
    let known = BTreeSet::from([Utf8PathBuf::from("terraform/root")]);
    assert_eq!(
        missing_folders(&files, &known),
        [
            "terraform/files/f.json",
            "terraform/g",
            "terraform/modules/a",
            "terraform/modules/c"
        ]
    );
}

fn problems(files: &[(&str, &str)], var_file: Option<&str>) -> Vec<String> {
    let found = copy(files, var_file).expect_err("problems");
    found
        .into_iter()
        .map(|one| {
            format!(
                "{} | {} | {}",
                one.file,
                one.message,
                one.help.unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn the_var_file_is_copied_and_its_mistakes_are_named() {
    let root = (ROOT, "variable \"metadb\" {}\nvariable \"cp9_owner\" {}\n");
    let vars = "terraform/root/premium.tfvars";
    let good = copy(
        &[root, (vars, "# yes\nmetadb = {\n enabled = true\n}\n")],
        Some(vars),
    );
    let file = good.expect("a copy").var_file.expect("a var file");
    assert_eq!(file.0, "premium.tfvars");
    assert_eq!(
        problems(
            &[root, (vars, "metabd = 1\nzzz = 2\ncp9_owner = \"me\"\n")],
            Some(vars)
        ),
        [
            "/repo/terraform/root/premium.tfvars | the var file sets `metabd`, which the root module does not declare | did you mean `metadb`?",
            "/repo/terraform/root/premium.tfvars | the var file sets `zzz`, which the root module does not declare | declare `variable \"zzz\"` in the root module, or remove the line",
            "/repo/terraform/root/premium.tfvars | the var file sets `cp9_owner`, which cp9 gives | remove the line; it is given for every session",
        ]
    );
    assert!(
        problems(&[root], Some("terraform/root/none.tfvars"))[0]
            .contains("`terraform/root/none.tfvars` is not there")
    );
    let json = "terraform/root/p.tfvars.json";
    assert_eq!(
        problems(&[root, (json, r#"{"cp9_x":1}"#)], Some(json)).len(),
        1
    );
}

#[test]
fn a_folder_without_a_module_a_taken_name_and_a_program_are_refused() {
    assert!(
        problems(&[("terraform/root/README.md", "")], None)[0]
            .contains("holds no Terraform module")
    );
    let taken = [(ROOT, ""), ("terraform/root/cp9_override.tf.json", "{}")];
    assert!(problems(&taken, None)[0].contains("has the name of the file that cp9 adds"));
    let runs = [(ROOT, "data \"external\" \"gh\" {\n program = [\"gh\"]\n}\n")];
    assert!(problems(&runs, None)[0].contains("`data.external.gh` starts a program"));
}
