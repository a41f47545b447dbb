//! `cargo xtask tools NAME`: the pinned programs that tests need, installed once outside the checkout under
//! a name that changes with their recipe.

mod go;
mod moto;
mod provider;
mod tofu;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::outside::{self, say, var};

/// A program that tests need.
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: &'static str,
    /// The variable by which tests are told where it is.
    pub(crate) variable: &'static str,
    /// Whether a run that is late already does without it rather than waits for its build.
    slow: bool,
    /// What it is made from: a change of this text makes another installation.
    recipe: fn(&Path) -> Result<String>,
    /// Installs it into an empty folder.
    install: fn(&Path, &Path) -> Result<()>,
    /// Whether a machine can install it at all; why not, if it cannot.
    missing: fn() -> Option<String>,
}

/// Every tool, in the order of installation.
const TOOLS: [Tool; 3] = [moto::TOOL, provider::TOOL, tofu::TOOL];

/// How old a run may be when the build of a slow tool begins.
const LATE: Duration = Duration::from_mins(45);

/// Where a tool is, or why it is not.
pub(crate) enum Place {
    /// It is installed here.
    At(PathBuf),
    /// This machine cannot have it.
    Missing(String),
}

/// Runs the task.
pub(crate) fn run(root: &Path, name: &str) -> Result<bool> {
    if name == "list" {
        for tool in &TOOLS {
            say(tool.name);
        }
        return Ok(true);
    }
    let wanted: Vec<&Tool> = TOOLS
        .iter()
        .filter(|tool| name == "all" || tool.name == name)
        .collect();
    if wanted.is_empty() {
        bail!("no such tool: `{name}`; `cargo xtask tools list` names them");
    }
    let mut all = true;
    for tool in wanted {
        match tool.get(root)? {
            Place::At(path) => say(&path.display().to_string()),
            Place::Missing(why) => {
                outside::warn(&format!("{}: {why}", tool.name));
                all = false;
            }
        }
    }
    Ok(all)
}

/// Every tool with its place, for the tests of a run that began then. What cannot be installed is missing,
/// with its reason: a machine without a network runs the other tests.
pub(crate) fn all(root: &Path, began: Instant) -> Vec<(&'static Tool, Place)> {
    let place = |tool: &Tool| {
        if tool.slow && began.elapsed() > LATE && !tool.is_there(root)? {
            let minutes = began.elapsed().as_secs() / 60;
            return Ok(Place::Missing(format!(
                "not built, as {minutes} minutes were gone"
            )));
        }
        tool.get(root)
    };
    let places = TOOLS.iter().map(|tool| {
        let place = place(tool).unwrap_or_else(|err: anyhow::Error| {
            let why = format!("{err:#}");
            Place::Missing(why.lines().next().unwrap_or_default().to_owned())
        });
        (tool, place)
    });
    places.collect()
}

impl Tool {
    fn is_there(&self, root: &Path) -> Result<bool> {
        let digest = outside::digest(&(self.recipe)(root)?);
        Ok(cache()?.join(format!("{}-{digest}", self.name)).is_dir())
    }

    /// Where the tool is; installs it first if need be. Two that install at once wait for each other.
    fn get(&self, root: &Path) -> Result<Place> {
        if let Some(why) = (self.missing)() {
            return Ok(Place::Missing(why));
        }
        let cache = cache()?;
        let digest = outside::digest(&(self.recipe)(root)?);
        let place = cache.join(format!("{}-{digest}", self.name));
        let lock = outside::lock(&cache.join(format!("{}.lock", self.name)))?;
        if place.is_dir() {
            return Ok(Place::At(place));
        }
        let partial = cache.join(format!("{}-{digest}.partial", self.name));
        outside::remove_tree(&partial)?;
        outside::create_dir(&partial)?;
        (self.install)(root, &partial)
            .with_context(|| format!("cannot install `{}`", self.name))?;
        outside::rename(&partial, &place)?;
        drop(lock);
        Ok(Place::At(place))
    }
}

fn cache() -> Result<PathBuf> {
    let base = var("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || var("HOME").map(|home| Path::new(&home).join(".cache"));
    let base = base.or_else(home).context("HOME is not set")?;
    let cache = base.join("cp9/tools");
    outside::create_dir(&cache)?;
    Ok(cache)
}
