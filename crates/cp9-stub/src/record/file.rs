//! The file of a recording: private, whole lines only, and made anew when somebody takes it away.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::StubError;

/// How much of the end is read at once.
const BLOCK: u64 = 64 * 1024;

/// What was done about the end of the file at start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repair {
    /// It ended with a whole line.
    Nothing,
    /// The last line was whole but for its end.
    Ended,
    /// The last line was torn; that many bytes were cut off.
    Cut(u64),
}

/// An open recording.
#[derive(Debug)]
pub(crate) struct Recording {
    path: Utf8PathBuf,
    /// One line at a time.
    turn: Mutex<()>,
}

impl Recording {
    /// Opens the file, made with its folders if need be, and mends its last line.
    pub(crate) fn open(path: &Utf8Path) -> Result<(Self, Repair), StubError> {
        let named = |source| StubError::Output {
            path: path.to_owned(),
            source,
        };
        let recording = Self {
            path: path.to_owned(),
            turn: Mutex::new(()),
        };
        let mut file = recording.file().map_err(named)?;
        if is_foreign(&file).map_err(named)? {
            return Err(StubError::Foreign {
                path: path.to_owned(),
            });
        }
        let repair = mend(&mut file).map_err(named)?;
        Ok((recording, repair))
    }

    /// Appends one line, which must not hold a line end.
    pub(crate) fn append(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Tests remove or truncate recordings between cases, so that no handle is kept.
        self.file()?.write_all(&line)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a stub is a service of its own and writes its recording"
    )]
    fn file(&self) -> io::Result<File> {
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true).mode(0o600);
            options.open(&self.path)
        };
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = self.path.parent().filter(|folder| *folder != "") {
                    DirBuilder::new()
                        .recursive(true)
                        .mode(0o700)
                        .create(folder)?;
                }
                open()?
            }
            other => other?,
        };
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
}

/// True for a file with content that no recorder has written.
fn is_foreign(mut file: &File) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut first = [0];
    file.seek(SeekFrom::Start(0))?;
    Ok(file.read(&mut first)? == 1 && first != *b"{")
}

/// Ends or cuts off a last line that a killed recorder left behind.
fn mend(file: &mut File) -> io::Result<Repair> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(Repair::Nothing);
    }
    let length = metadata.len();
    let (start, tail) = last_line(file, length)?;
    if tail.is_empty() {
        return Ok(Repair::Nothing);
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(&tail).is_ok() {
        file.write_all(b"\n")?;
        return Ok(Repair::Ended);
    }
    file.set_len(start)?;
    Ok(Repair::Cut(length - start))
}

/// Where the text after the last line end begins, and that text.
fn last_line(file: &mut File, length: u64) -> io::Result<(u64, Vec<u8>)> {
    let mut start = length;
    let mut tail: Vec<u8> = Vec::new();
    while start > 0 {
        let size = BLOCK.min(start);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut block = vec![0; usize::try_from(size).unwrap_or_default()];
        file.read_exact(&mut block)?;
        let end = block.iter().rposition(|byte| *byte == b'\n');
        let kept = end.map_or(0, |end| end + 1);
        let mut joined = block.split_off(kept);
        joined.extend_from_slice(&tail);
        tail = joined;
        if end.is_some() {
            return Ok((start + kept as u64, tail));
        }
    }
    Ok((0, tail))
}
