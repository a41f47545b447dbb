//! Looking at folders without reading what they hold.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::FileError;
use super::atomic::sync_parent;
use super::error::failed;
use crate::Doors;

impl Doors {
    /// The entries of a folder by name, in order; names that are not UTF-8 are left out, since no file of
    /// ours has one. A folder that is missing has none.
    pub fn list(&self, dir: &Utf8Path) -> Result<Vec<Utf8PathBuf>, FileError> {
        if !dir.is_dir() {
            return Ok(Vec::new());
        }
        let mut entries = Vec::new();
        for entry in dir.read_dir_utf8().map_err(failed("list", dir))? {
            match entry {
                Ok(entry) => entries.push(entry.into_path()),
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {}
                Err(error) => return Err(failed("list", dir)(error)),
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// True for a regular file, or a link to one.
    pub fn is_file(&self, path: &Utf8Path) -> bool {
        path.is_file()
    }

    /// A path without links, if it is there.
    pub fn canonical(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        path.canonicalize_utf8().ok()
    }

    /// True for a folder that only its owner can enter.
    pub fn is_private_dir(&self, dir: &Utf8Path) -> bool {
        let meta = dir.symlink_metadata();
        meta.is_ok_and(|meta| meta.is_dir() && meta.permissions().mode().trailing_zeros() >= 6)
    }

    /// The permission bits of a file or folder, of a link its own; none if it is not there.
    pub fn mode(&self, path: &Utf8Path) -> Option<u32> {
        let meta = path.symlink_metadata().ok()?;
        Some(meta.permissions().mode() & 0o7777)
    }

    /// Makes a file of mode 0600 if it is missing, and sets its time to now.
    pub fn touch(&self, path: &Utf8Path) -> Result<(), FileError> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path);
        let now = std::time::SystemTime::from(self.clock.now());
        file.and_then(|file| file.set_modified(now))
            .map_err(failed("touch", path))
    }

    /// Gives a file or folder another name on the same file system.
    pub fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
        let started = self.clock.instant();
        let result = std::fs::rename(from, to)
            .map_err(failed("rename", from))
            .and_then(|()| sync_parent(to));
        self.record_file("rename", from, started, &result);
        result
    }

    /// The same for what need not outlive a loss of power: another start makes it again.
    pub fn rename_fleeting(&self, from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
        let started = self.clock.instant();
        let result = std::fs::rename(from, to).map_err(failed("rename", from));
        self.record_file("rename", from, started, &result);
        result
    }

    /// When a file was written last.
    pub fn modified(&self, path: &Utf8Path) -> Option<jiff::Timestamp> {
        let time = path
            .symlink_metadata()
            .and_then(|meta| meta.modified())
            .ok()?;
        time.try_into().ok()
    }
}
