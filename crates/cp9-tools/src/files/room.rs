//! Room that a file which others go on appending to no longer needs.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use camino::Utf8Path;

use crate::Doors;

use super::FileError;
use super::error::failed;

impl Doors {
    /// Gives back the room of a file's first bytes, which read as zeros then. Its length and every
    /// offset stay, so that writers are not disturbed and nothing they append is lost. False where
    /// the system or the file system cannot do that.
    pub fn free_head(&self, path: &Utf8Path, bytes: u64) -> Result<bool, FileError> {
        let started = self.clock.instant();
        let freed = open(path)
            .and_then(|file| punch(&file, bytes))
            .map_err(failed("free room of", path));
        self.quiet()
            .record_file("free room of", path, started, &freed);
        freed
    }

    /// Empties a file, unless it has another length by now. What is appended in that very moment
    /// is lost.
    pub fn empty_at(&self, path: &Utf8Path, length: u64) -> Result<bool, FileError> {
        let started = self.clock.instant();
        let emptied = open(path)
            .and_then(|file| {
                let same = file.metadata()?.len() == length;
                if same {
                    file.set_len(0)?;
                }
                Ok(same)
            })
            .map_err(failed("empty", path));
        self.quiet().record_file("empty", path, started, &emptied);
        emptied
    }

    /// Writes over bytes that a file has, without changing its length; writers that append to it are not
    /// disturbed. False if the file has become shorter than that.
    pub fn overwrite(&self, path: &Utf8Path, at: u64, bytes: &[u8]) -> Result<bool, FileError> {
        let started = self.clock.instant();
        let written = open(path)
            .and_then(|file| {
                let there = file.metadata()?.len() >= at + bytes.len() as u64;
                if there {
                    file.write_all_at(bytes, at)?;
                }
                Ok(there)
            })
            .map_err(failed("write over", path));
        self.quiet()
            .record_file("write over", path, started, &written);
        written
    }
}

fn open(path: &Utf8Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

#[cfg(target_os = "linux")]
fn punch(file: &File, bytes: u64) -> std::io::Result<bool> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    let Ok(length) = i64::try_from(bytes) else {
        return Ok(false);
    };
    if length == 0 {
        return Ok(true);
    }
    let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    match fallocate(file, hole, 0, length) {
        Ok(()) => Ok(true),
        Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn punch(_file: &File, bytes: u64) -> std::io::Result<bool> {
    Ok(bytes == 0)
}
