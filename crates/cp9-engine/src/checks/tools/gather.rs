//! Finds the programs and asks each for its version, all at once.

use std::time::Duration;

use camino::Utf8Path;
use cp9_tools::{Doors, ProgramError};
use tokio::task::JoinSet;

use super::needed::{Wanted, of_none, of_session};
use super::{Tool, minimum, version};
use crate::checks::context::Context;

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(2);

/// Finds and asks them.
pub(in crate::checks) async fn gather(context: &Context<'_>) -> Vec<Tool> {
    let doors = &context.engine.doors;
    let wanted = match context.config() {
        Some(config) => of_session(doors, config),
        None => of_none(&context.engine.cwd),
    };
    let mut asked = JoinSet::new();
    for (place, wanted) in wanted.into_iter().enumerate() {
        let doors = doors.clone();
        asked.spawn(async move { (place, ask(&doors, wanted).await) });
    }
    let mut tools = asked.join_all().await;
    tools.sort_by_key(|(place, _)| *place);
    tools.into_iter().map(|(_, tool)| tool).collect()
}

async fn ask(doors: &Doors, wanted: Wanted) -> Tool {
    let Wanted {
        name, need, folder, ..
    } = wanted;
    let path = doors.which(&name);
    let said = match &path {
        Some(path) if minimum(&name).is_some() => Some(match written(doors, &name, path) {
            Some(text) => Ok(text),
            None => said(doors, &name, &folder).await,
        }),
        _ => None,
    };
    Tool {
        name,
        need,
        path,
        said,
    }
}

/// The version as Go's installation has it in a file. Asking the program would make it count the question
/// in the user's home; only where a wrapper stands in its place it must be asked all the same.
fn written(doors: &Doors, name: &str, path: &Utf8Path) -> Option<String> {
    let real = path.canonicalize_utf8().ok()?;
    let root = real.parent()?.parent()?;
    if name != "go" || real.file_name() != Some("go") {
        return None;
    }
    doors.read_text(&root.join("VERSION")).ok()
}

async fn said(doors: &Doors, name: &str, folder: &Utf8Path) -> Result<String, String> {
    let mut cmd = version::ask(name).timeout(LIMIT);
    if doors.exists(folder) {
        cmd = cmd.cwd(folder);
    }
    let output = doors
        .run(&cmd)
        .await
        .and_then(cp9_tools::Output::checked)
        .map_err(|error| why(&error))?;
    Ok(output.stdout)
}

/// The line that says what is wrong: the one that begins so, else the last one.
fn why(error: &ProgramError) -> String {
    let lines = error.last_lines().iter().map(|line| line.trim());
    let wrong = lines.clone().find_map(|line| line.strip_prefix("error: "));
    let last = lines.rev().find(|line| !line.is_empty());
    wrong
        .or(last)
        .map_or_else(|| error.to_string(), str::to_owned)
}
