//! Removing files and trees; what is already gone is removed.

use std::fs::Permissions;
use std::io::{ErrorKind, Result as IoResult};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use camino::Utf8Path;

use crate::Doors;

use super::FileError;
use super::atomic::TEMPORARY;
use super::error::failed;

/// Something may still write into a tree while it goes.
const TRIES: u32 = 5;

impl Doors {
    /// Removes a file or link.
    pub fn remove_file(&self, path: &Utf8Path) -> Result<(), FileError> {
        if !self.exists(path) {
            return Ok(());
        }
        let started = self.clock.instant();
        let result = gone_is_fine(std::fs::remove_file(path)).map_err(failed("remove", path));
        self.record_file("remove", path, started, &result);
        result
    }

    /// Removes whatever is at the path, never what a link leads to.
    pub fn remove_tree(&self, path: &Utf8Path) -> Result<(), FileError> {
        if !self.exists(path) {
            return Ok(());
        }
        let started = self.clock.instant();
        let result = remove(path).map_err(failed("remove", path));
        self.record_file("remove tree", path, started, &result);
        result
    }

    /// Removes the temporary files that killed writers left anywhere below a folder.
    pub fn sweep_temporaries(&self, dir: &Utf8Path) -> Result<(), FileError> {
        let entries = match dir.read_dir_utf8() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(failed("read", dir))?,
        };
        for entry in entries.filter_map(Result::ok) {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir {
                self.sweep_temporaries(entry.path())?;
            } else if is_abandoned(entry.file_name()) {
                self.remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

fn is_abandoned(name: &str) -> bool {
    let writer = name
        .strip_prefix(TEMPORARY)
        .and_then(|rest| rest.split('-').next());
    let writer = writer.and_then(|pid| pid.parse::<u32>().ok());
    writer.is_some_and(|pid| crate::procs::identify(pid).is_none())
}

fn gone_is_fine(result: IoResult<()>) -> IoResult<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

pub(super) fn remove(path: &Utf8Path) -> IoResult<()> {
    let kind = match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata?.file_type(),
    };
    if !kind.is_dir() {
        return gone_is_fine(std::fs::remove_file(path));
    }
    for _ in 1..TRIES {
        match gone_is_fine(std::fs::remove_dir_all(path)) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                unlock(path.as_std_path())?;
            }
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
            result => return result,
        }
    }
    gone_is_fine(std::fs::remove_dir_all(path))
}

/// Makes folders writable again, such as those of a module cache.
fn unlock(folder: &Path) -> IoResult<()> {
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            unlock(&entry.path())?;
        }
    }
    Ok(())
}
