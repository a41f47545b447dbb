//! The files of the Terraform root in its checkout, with the modules and files that it reaches.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::Terraform;
use cp9_render::FileTree;
use cp9_render::substrate::missing_folders;

use crate::engine::Engine;
use crate::error::EngineError;

/// Reads them; paths are relative to the repository.
pub(crate) fn read(engine: &Engine, terraform: &Terraform) -> Result<FileTree, EngineError> {
    let repo = Utf8Path::new(&terraform.repo);
    let mut files = FileTree::new();
    let mut known = BTreeSet::new();
    let var_file = terraform.var_file.as_deref().map(Utf8PathBuf::from);
    let mut wanted: Vec<Utf8PathBuf> = std::iter::once(Utf8PathBuf::from(&terraform.path))
        .chain(var_file)
        .collect();
    while !wanted.is_empty() {
        for path in wanted {
            take(engine, repo, &path, &mut files)?;
            known.insert(path);
        }
        wanted = missing_folders(&files, &known);
    }
    Ok(files)
}

/// Adds a file, or everything below a folder. What is not there is said later, at its place.
fn take(
    engine: &Engine,
    repo: &Utf8Path,
    path: &Utf8Path,
    files: &mut FileTree,
) -> Result<(), EngineError> {
    let whole = repo.join(path);
    if engine.doors.is_file(&whole) {
        files.insert(path.to_owned(), engine.doors.read(&whole)?);
    } else if engine.doors.exists(&whole) {
        let below = engine.doors.read_checkout(&whole)?;
        let placed = below
            .into_iter()
            .map(|(name, bytes)| (path.join(name), bytes));
        files.extend(placed);
    }
    Ok(())
}
