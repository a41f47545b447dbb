//! The index of one service on disk, `<service>.jsonl` and the generation before it,
//! `<service>.jsonl.1`: records of lines, and marks of how far each raw file has been indexed, so
//! that nobody has to read all of it to know.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_tools::{Doors, FileError};
use serde::{Deserialize, Serialize};

use super::record::Record;

/// How much is written between two marks.
const MARK_EVERY: u64 = 1 << 20;
/// How much is read at once on the way back from the end.
const CHUNK: u64 = 128 * 1024;
/// How often a reader tries to open both generations as they belong together.
const TRIES: usize = 16;

/// How far a raw file has been indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) service: String,
    pub(super) resource: String,
    /// The offset in the raw file after the last indexed line.
    pub(super) offset: u64,
}

/// A line of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Line(Record),
    Mark(Mark),
}

impl Entry {
    /// `None` for a line that a kill cut short.
    fn parse(line: &[u8]) -> Option<Self> {
        let record = serde_json::from_slice::<Record>(line).map(Self::Line);
        record
            .or_else(|_| serde_json::from_slice::<Mark>(line).map(Self::Mark))
            .ok()
    }
}

/// The index of a service as it is written.
#[derive(Debug)]
pub(super) struct Archive {
    path: Utf8PathBuf,
    unmarked: u64,
}

impl Archive {
    /// Goes on with what there is.
    pub(super) fn open(doors: &Doors, path: Utf8PathBuf) -> Self {
        // A record that a kill cut short gets its end; readers skip it, and its raw line is
        // indexed again.
        if super::raw::ends_unfinished(&path) {
            let _ = doors.append_line(&path, "");
        }
        let unmarked = 0;
        Self { path, unmarked }
    }

    /// Appends whole lines.
    pub(super) fn append(&mut self, doors: &Doors, lines: &str) -> Result<(), FileError> {
        doors.append_line(&self.path, lines)?;
        self.unmarked += lines.len() as u64 + 1;
        Ok(())
    }

    /// Writes marks when there is need for some, and puts a full generation aside.
    pub(super) fn keep(&mut self, doors: &Doors, limit: u64, marks: impl Iterator<Item = Mark>) {
        let full = std::fs::metadata(&self.path).is_ok_and(|facts| facts.len() > limit);
        if full {
            // A generation that cannot be put aside now is so after the next lines.
            let _ = doors.rename_fleeting(&self.path, &older(&self.path));
        }
        if full || self.unmarked >= MARK_EVERY {
            self.mark(doors, marks);
        }
    }

    /// Writes marks.
    pub(super) fn mark(&mut self, doors: &Doors, marks: impl Iterator<Item = Mark>) {
        let text = |mark: Mark| {
            serde_json::to_string(&mark).expect("a mark is plain data and always serialises")
        };
        let marks: Vec<String> = marks.map(text).collect();
        // Without marks the records before say the same, further back.
        if !marks.is_empty() && doors.append_line(&self.path, &marks.join("\n")).is_ok() {
            self.unmarked = 0;
        }
    }

    /// The raw offset after the last indexed line of a resource.
    pub(super) fn last_offset(&self, resource: &str) -> u64 {
        let newest = last_offset(&self.path, resource);
        newest
            .or_else(|| last_offset(&older(&self.path), resource))
            .unwrap_or(0)
    }
}

/// The generation before.
pub(super) fn older(index: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{index}.1"))
}

fn last_offset(index: &Utf8Path, resource: &str) -> Option<u64> {
    let mut offset = None;
    let looked = backwards(index, &mut |line| {
        offset = match Entry::parse(line) {
            Some(Entry::Line(record)) if record.line.resource == resource => Some(record.offset),
            Some(Entry::Mark(mark)) if mark.resource == resource => Some(mark.offset),
            _ => None,
        };
        offset.is_none()
    });
    looked.ok().and(offset)
}

/// Hands over the lines of a file, the last one first, as long as they are wanted.
fn backwards(path: &Utf8Path, sink: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let file = File::open(path)?;
    let mut end = file.metadata()?.len();
    // What has been read of the line that begins before `end`.
    let mut rest = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        let mut chunk = vec![0; usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(&mut chunk, start)?;
        chunk.append(&mut rest);
        let mut lines = chunk.rsplit(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            if lines.peek().is_none() && start > 0 {
                rest = line.to_vec();
            } else if !line.is_empty() && !sink(line) {
                return Ok(());
            }
        }
        end = start;
    }
    Ok(())
}

/// How far a reader has come in a service's index.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The generation it was in; held open, so that no other gets its number.
    file: Option<File>,
    at: u64,
}

impl Cursor {
    /// Hands over the whole lines that follow, those of the generation before first if that is
    /// where the reader was.
    pub(super) fn advance(
        &mut self,
        index: &Utf8Path,
        sink: &mut dyn FnMut(Entry),
    ) -> io::Result<()> {
        let (before, newest) = generations(index)?;
        if let Some(before) = before.filter(|_| !self.is_in(newest.as_ref())) {
            self.read(before, sink)?;
        }
        match newest {
            Some(newest) => self.read(newest, sink),
            None => Ok(()),
        }
    }

    fn is_in(&self, other: Option<&File>) -> bool {
        let inode = |file: &File| file.metadata().ok().map(|facts| facts.ino());
        let (own, other) = (self.file.as_ref().and_then(inode), other.and_then(inode));
        own.is_some() && own == other
    }

    fn read(&mut self, file: File, sink: &mut dyn FnMut(Entry)) -> io::Result<()> {
        let from = if self.is_in(Some(&file)) { self.at } else { 0 };
        self.at = entries(&file, from, sink)?;
        self.file = Some(file);
        Ok(())
    }
}

/// The generation before and the newest one, opened as they belong together.
fn generations(index: &Utf8Path) -> io::Result<(Option<File>, Option<File>)> {
    let open = |path: &Utf8Path| match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let mut tries = TRIES;
    loop {
        let newest = open(index)?;
        let before = open(&older(index))?;
        // One that was put aside in between would be read twice, or not at all.
        let opened = newest.as_ref().map(File::metadata).transpose()?;
        let named = std::fs::metadata(index).ok();
        let same = opened.map(|facts| facts.ino()) == named.map(|facts| facts.ino());
        tries -= 1;
        if same || tries == 0 {
            return Ok((before, newest));
        }
    }
}

/// Hands over the whole lines from a byte on; returns the byte after the last of them.
fn entries(mut file: &File, from: u64, sink: &mut dyn FnMut(Entry)) -> io::Result<u64> {
    let mut at = if file.metadata()?.len() < from {
        0
    } else {
        from
    };
    file.seek(SeekFrom::Start(at))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = reader.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(at);
        }
        at += count as u64;
        if let Some(entry) = Entry::parse(&line) {
            sink(entry);
        }
    }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
