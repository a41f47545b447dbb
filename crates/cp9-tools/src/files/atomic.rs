//! Writes that leave the old file or the new one, never half of either.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::time::Instant;

use camino::Utf8Path;

use crate::Doors;
use crate::http::millis;
use crate::record::{Call, Kind};

use super::FileError;
use super::error::failed;

/// Begins the name of every temporary file; the writer's pid follows.
pub(super) const TEMPORARY: &str = ".cp9-tmp-";

impl Doors {
    /// Replaces a file: temporary file beside it, synced, renamed, folder synced.
    pub fn write_atomic(&self, path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
        let started = self.clock.instant();
        let result =
            replace(path, mode, |file| file.write_all(bytes)).and_then(|()| sync_parent(path));
        self.record_file("write", path, started, &result);
        result
    }

    /// Replaces a file as `write_atomic` does, without waiting for the disk: for what means nothing
    /// any more once the machine has gone down, such as which process runs.
    pub fn write_fleeting(
        &self,
        path: &Utf8Path,
        bytes: &[u8],
        mode: u32,
    ) -> Result<(), FileError> {
        let started = self.clock.instant();
        let result = exchange(path, mode, |file| file.write_all(bytes));
        self.record_file("write", path, started, &result);
        result
    }

    /// Replaces a file only if its bytes or mode differ; true if anything changed.
    pub fn write_if_changed(
        &self,
        path: &Utf8Path,
        bytes: &[u8],
        mode: u32,
    ) -> Result<bool, FileError> {
        let same = super::tree::file_equals(path, bytes)?;
        if !same {
            return self.write_atomic(path, bytes, mode).map(|()| true);
        }
        set_mode(path, mode)
    }

    /// Copies a file as `write_atomic` writes one.
    pub fn copy_atomic(&self, from: &Utf8Path, to: &Utf8Path, mode: u32) -> Result<(), FileError> {
        let started = self.clock.instant();
        let result = File::open(from)
            .map_err(failed("read", from))
            .and_then(|mut source| {
                replace(to, mode, |file| std::io::copy(&mut source, file).map(drop))?;
                sync_parent(to)
            });
        self.record_file("copy to", to, started, &result);
        result
    }

    /// Makes a folder of mode 0700, with those above it.
    pub fn create_private_dir(&self, path: &Utf8Path) -> Result<(), FileError> {
        let started = self.clock.instant();
        let missing = !path.is_dir();
        let result = private_dir(path);
        if missing || result.is_err() {
            self.record_file("create folder", path, started, &result);
        }
        result
    }

    pub(super) fn record_file<T>(
        &self,
        what: &str,
        path: &Utf8Path,
        started: Instant,
        result: &Result<T, FileError>,
    ) {
        let outcome = match result {
            Ok(_) => "ok".to_owned(),
            Err(FileError::Io { source, .. }) => source.to_string(),
            Err(error) => error.to_string(),
        };
        self.recorder.call(Call {
            path: Some(path.to_string()),
            ..Call::new(Kind::File, what, millis(started.elapsed()), outcome)
        });
    }
}

pub(super) fn private_dir(path: &Utf8Path) -> Result<(), FileError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(failed("create folder", path))?;
    set_mode(path, 0o700).map(drop)
}

/// Gives the path this mode; true if it had another.
pub(super) fn set_mode(path: &Utf8Path, mode: u32) -> Result<bool, FileError> {
    let now = std::fs::metadata(path).map_err(failed("read", path))?;
    if now.permissions().mode() & 0o7777 == mode {
        return Ok(false);
    }
    let set = std::fs::set_permissions(path, Permissions::from_mode(mode));
    set.map(|()| true).map_err(failed("set the mode of", path))
}

/// The folder of a path; the current one for a bare name.
pub(super) fn parent(path: &Utf8Path) -> &Utf8Path {
    match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => Utf8Path::new("."),
    }
}

/// Everything of an atomic write but the sync of the folder.
pub(super) fn replace(
    path: &Utf8Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), FileError> {
    exchange(path, mode, |file| {
        write(file)?;
        // Its mode too is on the disk before its name is.
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()
    })
}

/// Writes beside a path and takes its place.
fn exchange(
    path: &Utf8Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), FileError> {
    let folder = parent(path);
    // The name is short whatever the length of the file's own.
    let prefix = format!("{TEMPORARY}{}-", std::process::id());
    let temporary = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder);
    let mut temporary = temporary.map_err(|source| match source.kind() {
        ErrorKind::NotFound => FileError::ParentMissing {
            path: path.to_owned(),
            parent: folder.to_owned(),
        },
        _ => failed("write", path)(source),
    })?;
    let file = temporary.as_file_mut();
    let written = write(file).and_then(|()| file.set_permissions(Permissions::from_mode(mode)));
    written.map_err(failed("write", path))?;
    let persisted = temporary.persist(path);
    persisted
        .map(drop)
        .map_err(|error| failed("write", path)(error.error))
}

pub(super) fn sync_parent(path: &Utf8Path) -> Result<(), FileError> {
    sync_dir(parent(path))
}

pub(super) fn sync_dir(folder: &Utf8Path) -> Result<(), FileError> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems cannot sync a folder, and need not.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        synced => synced.map_err(failed("sync", folder)),
    }
}
