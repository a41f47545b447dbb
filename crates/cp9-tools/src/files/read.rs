//! Reading files whole.

use std::fs::{File, FileType};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;

use camino::Utf8Path;
use sha2::{Digest, Sha256};

use crate::Doors;

use super::FileError;
use super::error::failed;

/// Nothing that cp9 reads whole is near this size.
const LARGEST: u64 = 256 * 1024 * 1024;

impl Doors {
    /// Reads a file.
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
        let mut file = File::open(path).map_err(&failed)?;
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

fn is_pipe(kind: FileType) -> bool {
    kind.is_fifo() || kind.is_socket()
}

pub(super) fn read_capped(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let failed = failed("read", path);
    // Opening a pipe waits for somebody to write into it.
    if path
        .metadata()
        .is_ok_and(|facts| is_pipe(facts.file_type()))
    {
        let why = "it is a pipe or a socket, not a file";
        return Err(failed(std::io::Error::new(ErrorKind::InvalidInput, why)));
    }
    let file = File::open(path).map_err(&failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(&failed)?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
            limit,
        });
    }
    Ok(bytes)
}
