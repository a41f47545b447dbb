//! Appending whole lines to private files.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;

use camino::Utf8Path;

use crate::Doors;

use super::FileError;
use super::error::failed;

impl Doors {
    /// Appends a line to a file of mode 0600, which is created if it is missing.
    pub fn append_line(&self, path: &Utf8Path, line: &str) -> Result<(), FileError> {
        let started = self.clock.instant();
        let result = append(path, line).map_err(failed("append to", path));
        self.quiet()
            .record_file("append to", path, started, &result);
        result
    }
}

fn append(path: &Utf8Path, line: &str) -> std::io::Result<()> {
    let mut file = open_at_line_start(path)?;
    // One write, so that lines of several writers do not mix.
    file.write_all(format!("{line}\n").as_bytes())
}

/// Opens a file for appending; what a killed writer left of its last line gets its end.
pub(crate) fn open_at_line_start(path: &Utf8Path) -> std::io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(-1)).is_ok() {
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
    }
    Ok(file)
}
