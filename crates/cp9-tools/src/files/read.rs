//! Reading files whole.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use camino::Utf8Path;
use nix::fcntl::OFlag;
use sha2::{Digest, Sha256};

use crate::Doors;

use super::FileError;
use super::error::failed;

/// Nothing that cp9 reads whole is near this size.
const LARGEST: u64 = 256 * 1024 * 1024;

impl Doors {
    /// Reads a regular file, or what a link to one leads to; pipes, sockets, devices and folders are refused.
    pub fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, FileError> {
        read_capped(path, LARGEST)
    }

    /// Reads a text file.
    pub fn read_text(&self, path: &Utf8Path) -> Result<String, FileError> {
        String::from_utf8(self.read(path)?).map_err(|error| FileError::NotUtf8 {
            path: path.to_owned(),
            at: error.utf8_error().valid_up_to(),
        })
    }

    /// True when there is something at the path, be it a link that leads nowhere.
    pub fn exists(&self, path: &Utf8Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    /// The SHA-256 of a file, as lower-case hex, without reading it whole into memory.
    pub fn digest(&self, path: &Utf8Path) -> Result<String, FileError> {
        let failed = failed("read", path);
        let (mut file, _) = open(path)?;
        let mut digest = Sha256::new();
        let mut buffer = vec![0; 128 * 1024];
        loop {
            let read = file.read(&mut buffer).map_err(&failed)?;
            if read == 0 {
                break;
            }
            digest.update(&buffer[..read]);
        }
        let hex = digest
            .finalize()
            .into_iter()
            .map(|byte| format!("{byte:02x}"));
        Ok(hex.collect())
    }
}

/// What a path that is no regular file is; reading such a thing may wait or go on for ever.
fn other_kind(kind: FileType) -> Option<&'static str> {
    let kinds = [
        (kind.is_dir(), "a folder"),
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (!kind.is_file(), "a device"),
    ];
    let found = kinds.into_iter().find(|(is, _)| *is);
    found.map(|(_, word)| word)
}

/// Opens a regular file, or a link to one, and says how long it is.
fn open(path: &Utf8Path) -> Result<(File, u64), FileError> {
    let failed = failed("read", path);
    let regular = |facts: &Metadata| match other_kind(facts.file_type()) {
        None => Ok(facts.len()),
        Some(what) => Err(FileError::NoFile {
            path: path.to_owned(),
            what,
        }),
    };
    regular(&path.metadata().map_err(&failed)?)?;
    // Something else may have taken its place, and opening a pipe waits for a writer.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    let file = options.open(path).map_err(&failed)?;
    let length = regular(&file.metadata().map_err(&failed)?)?;
    Ok((file, length))
}

pub(super) fn read_capped(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let too_large = || FileError::TooLarge {
        path: path.to_owned(),
        limit,
    };
    let (file, length) = open(path)?;
    if length > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // What grows while it is read is read no further, and files of `/proc` say that they are empty.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
}
