//! The build resource of a source service: `build.command`, or the language's own default.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::Diagnostic;
use cp9_model::config::resolved::{Build, ResolvedConfig};
use cp9_model::devplan::{Resource, ResourceKind, Trigger};
use cp9_model::graph::ServiceNode;
use cp9_model::scope::{ENV_ID, ENV_OWNER, ENV_SESSION};
use indexmap::IndexMap;

use super::cargo::CargoTarget;
use super::roots::Table;
use super::{binary_path, build_name};
use crate::problem;
use crate::process::ProcessWorkload;
use crate::tree::inside;

/// Never a reason to build: what version control and cp9 itself write.
const IGNORED: [&str; 2] = [".git/", ".cp9/"];
/// What cargo writes beside a Cargo.toml when a person runs it.
const CARGO_IGNORED: &str = "target/";

/// How a service is built, and what its build reads.
struct Recipe {
    argv: Vec<String>,
    /// Below the checkout; empty for all of it.
    watch: String,
    ignore: Vec<String>,
}

/// The build resource.
pub(super) fn resource(
    config: &ResolvedConfig,
    node: &ServiceNode,
    workload: &ProcessWorkload,
    cargo: Option<&CargoTarget>,
    roots: &Table,
) -> Result<Resource, Box<Diagnostic>> {
    let src = format!("${{src-{}}}", node.name);
    let (build, recipe) = recipe(config, node, cargo, roots)?;
    let watch = if recipe.watch.is_empty() {
        src.clone()
    } else {
        format!("{src}/{}", recipe.watch)
    };
    Ok(Resource {
        name: build_name(&node.name),
        service: node.name.to_string(),
        kind: ResourceKind::Build,
        watch: vec![watch],
        ignore: ignore(build, &recipe),
        argv: recipe.argv,
        cwd: src,
        env: scope(workload),
        secrets: Vec::new(),
        binary: Some(binary_path(&node.name)),
        files: Vec::new(),
        dirs: Vec::new(),
        ports: Vec::new(),
        ready: None,
        live: None,
        deps: Vec::new(),
        trigger: Trigger::Auto,
        live_update: Vec::new(),
        links: Vec::new(),
        grace_seconds: 5,
    })
}

fn recipe<'a>(
    config: &'a ResolvedConfig,
    node: &ServiceNode,
    cargo: Option<&CargoTarget>,
    roots: &Table,
) -> Result<(&'a Build, Recipe), Box<Diagnostic>> {
    let missing = |rest: &str, message: String| {
        let pointer = format!("/services/source/{}{rest}", node.name);
        let help = "set `build.command`, with `${output}` for the file it must write";
        Box::new(problem::session(
            config,
            problem::BUILD,
            pointer,
            message,
            help,
        ))
    };
    let nothing = || {
        missing(
            "/build",
            format!(
                "service `{}` says neither `build.main` nor `build.command`",
                node.name
            ),
        )
    };
    let build = &config
        .services
        .source
        .get(&node.name)
        .ok_or_else(nothing)?
        .build;
    let recipe = match (&build.command, &build.main) {
        (Some(command), _) => {
            let argv = command.iter().map(|arg| roots.text(arg)).collect();
            Recipe {
                argv,
                watch: String::new(),
                ignore: Vec::new(),
            }
        }
        (None, Some(main)) => by_language(config, node, main, cargo).ok_or_else(|| {
            missing(
                "/build/main",
                format!("cp9 does not know how to build `{main}`"),
            )
        })?,
        (None, None) => return Err(nothing()),
    };
    Ok((build, recipe))
}

fn ignore(build: &Build, recipe: &Recipe) -> Vec<String> {
    IGNORED
        .iter()
        .map(|pattern| (*pattern).to_owned())
        .chain(recipe.ignore.clone())
        .chain(build.ignore.clone())
        .collect()
}

/// A build carries the scope too, so that destroy finds one that was left behind.
fn scope(workload: &ProcessWorkload) -> IndexMap<String, String> {
    let carried = |key: &str| {
        workload
            .env
            .get(key)
            .map(|value| (key.to_owned(), value.clone()))
    };
    [ENV_SESSION, ENV_OWNER, ENV_ID]
        .into_iter()
        .filter_map(carried)
        .collect()
}

fn by_language(
    config: &ResolvedConfig,
    node: &ServiceNode,
    main: &str,
    cargo: Option<&CargoTarget>,
) -> Option<Recipe> {
    let main = inside(main)?;
    match main.extension()? {
        "go" => Some(go(&main)),
        "rs" => Some(match cargo {
            Some(target) => cargo_build(config, node, target),
            None => rustc(node, &main),
        }),
        _ => None,
    }
}

/// Packages may lie anywhere in the module, so all of the checkout is watched.
fn go(main: &Utf8Path) -> Recipe {
    let package = match main.parent().map(Utf8Path::as_str) {
        None | Some("") => ".".to_owned(),
        Some(folder) => format!("./{folder}"),
    };
    Recipe {
        argv: words(&["go", "build", "-o", "${output}", &package]),
        watch: String::new(),
        ignore: Vec::new(),
    }
}

/// Modules lie beside `main`; with `src/main.rs` the folder around `src` counts too.
fn rustc(node: &ServiceNode, main: &Utf8PathBuf) -> Recipe {
    let name = node.name.as_str().replace('-', "_");
    let folder = main.parent().unwrap_or(Utf8Path::new(""));
    let watch = if folder.file_name() == Some("src") {
        folder.parent().unwrap_or(folder)
    } else {
        folder
    };
    let argv = words(&[
        "rustc",
        "--edition=2021",
        "--crate-name",
        &name,
        "-C",
        "opt-level=1",
        "-o",
        "${output}",
        main.as_str(),
    ]);
    Recipe {
        argv,
        watch: watch.to_string(),
        ignore: Vec::new(),
    }
}

/// `--emit=link=FILE` puts the binary where it is wanted, and cargo keeps its incremental state.
fn cargo_build(config: &ResolvedConfig, node: &ServiceNode, target: &CargoTarget) -> Recipe {
    let folder = format!("${{cache}}/cargo/{}-{}", config.name, node.name);
    let argv = words(&[
        "cargo",
        "rustc",
        "--manifest-path",
        target.manifest.as_str(),
        "--target-dir",
        &folder,
        "--bin",
        &target.bin,
        "--",
        "--emit=link=${output}",
    ]);
    Recipe {
        argv,
        watch: String::new(),
        ignore: vec![CARGO_IGNORED.to_owned()],
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
