//! Which files make the working copy: the root module's folder, the modules it names by a relative path,
//! and files that its texts reach through `path.module`. What Terraform leaves behind in a checkout and
//! what it would load unasked stays out.

use std::collections::BTreeSet;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use cp9_model::Diagnostic;
use cp9_model::config::resolved::{ResolvedConfig, Terraform};
use serde_json::Value;

use super::hcl::{self, Scan};
use super::tfvars::{self, Values, WorkingCopy};
use crate::problem::{SUBSTRATE, bare, session};
use crate::tree::FileTree;

/// What cp9 adds to the root module: where its state is kept.
const OVERRIDE: &str = "cp9_override.tf.json";
/// How far modules may refer to modules.
const MOST_FOLDERS: usize = 256;

/// The folders and files below the repository that the files at hand refer to and that are not at hand.
/// One that leaves the repository is passed over: the copy would not have it, and Terraform says so.
pub fn missing_folders(files: &FileTree, known: &BTreeSet<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
    let mut wanted = BTreeSet::new();
    for (path, bytes) in files {
        let folder = path.parent().unwrap_or(Utf8Path::new(""));
        for reference in references(path, bytes) {
            if let Some(inside) = normal(&folder.join(reference)) {
                wanted.insert(inside);
            }
        }
    }
    let room = MOST_FOLDERS.saturating_sub(known.len());
    let covered = |path: &Utf8Path| known.iter().any(|folder| path.starts_with(folder));
    let missing = wanted.into_iter().filter(|path| !covered(path));
    missing.take(room).collect()
}

/// Relative paths that a file of a module refers to.
fn references(path: &Utf8Path, bytes: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Vec::new();
    };
    if path.as_str().ends_with(".tf.json") {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let modules = value.get("module").and_then(Value::as_object);
        let sources = modules.into_iter().flat_map(|modules| modules.values());
        let source = |module: &Value| relative(module.get("source")?.as_str()?);
        return sources.filter_map(source).collect();
    }
    if !is_module_file(path) {
        return Vec::new();
    }
    let scan = hcl::scan(text);
    let sources = scan.attributes.iter().filter_map(|(around, name, value)| {
        let module = around.len() == 1 && around[0].0 == "module" && name == "source";
        relative(value.as_deref().filter(|_| module)?)
    });
    sources
        .chain(scan.texts.iter().flat_map(|text| reached(text)))
        .collect()
}

fn relative(source: &str) -> Option<String> {
    let local = source.starts_with("./") || source.starts_with("../");
    // Two slashes name a folder inside a package.
    local.then(|| source.replace("//", "/"))
}

/// What a text reaches above its module.
fn reached(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["${path.module}/../", "${path.root}/../"] {
        for (at, _) in text.match_indices(start) {
            let rest = &text[at + start.len()..];
            let end = rest.find(['$', '%', '*', '"']);
            let literal = match end {
                // What follows is known only when it runs: the folder as a whole.
                Some(end) => rest[..end].rfind('/').map_or("", |slash| &rest[..slash]),
                None => rest,
            };
            if !literal.is_empty() {
                found.push(format!("../{literal}"));
            }
        }
    }
    found
}

/// A path inside the repository without `.` and `..`.
fn normal(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Utf8Component::Normal(name) => parts.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                parts.pop()?;
            }
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    Some(parts.into_iter().collect())
}

fn is_module_file(path: &Utf8Path) -> bool {
    matches!(path.extension(), Some("tf" | "tofu"))
}

/// True for what Terraform leaves behind, and for values that it would load without being asked.
fn stays_out(path: &Utf8Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let below = |dir: &str| path.components().any(|part| part.as_str() == dir);
    let state = name.contains(".tfstate") || name.ends_with(".tfplan") || name == "crash.log";
    let unasked = matches!(name, "terraform.tfvars" | "terraform.tfvars.json")
        || name.ends_with(".auto.tfvars")
        || name.ends_with(".auto.tfvars.json");
    state || unasked || below(".terraform")
}

/// The working copy of a session's substrate; `state` is the absolute path of the state file.
pub fn working_copy(
    config: &ResolvedConfig,
    terraform: &Terraform,
    files: &FileTree,
    values: &Values,
    state: &Utf8Path,
) -> Result<WorkingCopy, Vec<Diagnostic>> {
    let root = normal(Utf8Path::new(&terraform.path)).unwrap_or_default();
    let mut tree: FileTree = files
        .iter()
        .filter(|(path, _)| !stays_out(path))
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect();
    let scans = scans(&tree, &root);
    if scans.is_empty() {
        let message = format!("`{root}` holds no Terraform module");
        let help = format!("name a folder with `.tf` files below `{}`", terraform.repo);
        let pointer = "/terraform/path";
        return Err(vec![session(config, SUBSTRATE, pointer, message, help)]);
    }
    let mut problems = programs(config, terraform, &tree);
    let place = root.join(OVERRIDE);
    if tree.contains_key(&place) {
        let message = format!("`{place}` has the name of the file that cp9 adds");
        let file = Utf8Path::new(&terraform.repo).join(&place);
        problems.push(bare(
            SUBSTRATE,
            file.as_str(),
            "",
            message,
            "rename the file",
        ));
    }
    let declared = declared(&scans);
    let vars = tfvars::var_file(config, terraform, files, &declared).map_err(|found| {
        problems.extend(found);
    });
    let Ok(var_file) = vars else {
        return Err(problems);
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    tree.insert(place, backend(state));
    Ok(WorkingCopy {
        tree,
        root,
        var_file,
        values: tfvars::values(values, &declared),
    })
}

/// Keeps the state where the session has it, whatever backend the module declares.
fn backend(state: &Utf8Path) -> Vec<u8> {
    let value = serde_json::json!({"terraform": {"backend": {"local": {"path": state}}}});
    let mut bytes = serde_json::to_vec_pretty(&value).expect("plain data always serialises");
    bytes.push(b'\n');
    bytes
}

/// The files of the root module itself.
fn scans(tree: &FileTree, root: &Utf8Path) -> Vec<Scan> {
    let here = |path: &Utf8Path| path.parent() == Some(root);
    let mut scans = Vec::new();
    for (path, bytes) in tree.iter().filter(|(path, _)| here(path)) {
        let text = String::from_utf8_lossy(bytes);
        if is_module_file(path) {
            scans.push(hcl::scan(&text));
        } else if path.as_str().ends_with(".tf.json") {
            scans.push(from_json(&text));
        }
    }
    scans
}

/// The variables of a file in JSON.
fn from_json(text: &str) -> Scan {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let variables = value.get("variable").and_then(Value::as_object);
    let names = variables.into_iter().flat_map(|map| map.keys());
    let block = |name: &String| (Vec::new(), "variable".to_owned(), vec![name.clone()]);
    Scan {
        blocks: names.map(block).collect(),
        ..Scan::default()
    }
}

fn declared(scans: &[Scan]) -> BTreeSet<String> {
    let blocks = scans.iter().flat_map(|scan| &scan.blocks);
    let variables = blocks.filter(|(around, kind, _)| around.is_empty() && kind == "variable");
    variables
        .filter_map(|(_, _, labels)| labels.first().cloned())
        .collect()
}

/// Programs that would run while Terraform plans, before the plan can be judged.
fn programs(config: &ResolvedConfig, terraform: &Terraform, tree: &FileTree) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (path, bytes) in tree.iter().filter(|(path, _)| is_module_file(path)) {
        let scan = hcl::scan(&String::from_utf8_lossy(bytes));
        for (_, kind, labels) in &scan.blocks {
            let first = labels.first().map_or("", String::as_str);
            if kind == "data" && first == "external" {
                let name = labels.get(1).map_or("", String::as_str);
                let file = Utf8Path::new(&terraform.repo).join(path);
                problems.push(bare(
                    SUBSTRATE,
                    file.as_str(),
                    "",
                    format!("`data.external.{name}` starts a program while planning"),
                    format!("give its result as a variable of `{}`", shown(config)),
                ));
            }
        }
    }
    problems
}

fn shown(config: &ResolvedConfig) -> &str {
    let terraform = config.terraform.as_ref();
    let file = terraform.and_then(|terraform| terraform.var_file.as_deref());
    file.unwrap_or("a var file named by `terraform.var_file`")
}
