//! Reading a raw file that its process goes on appending to: whole lines with their end offsets,
//! the long ones cut, the unfinished last one kept back.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

/// What is kept of one raw line: more than is shown, so that a secret at the cut is seen whole.
const LONGEST: usize = super::record::LONGEST + 8 * 1024;
const CHUNK: usize = 64 * 1024;

/// A line of a raw file, or the beginning of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawLine<'a> {
    /// What is kept of it, without its end.
    pub(super) bytes: &'a [u8],
    /// Where it begins in the file.
    pub(super) start: u64,
    /// Where the next line begins, or the end of what has been read.
    pub(super) end: u64,
}

/// A place in a raw file.
#[derive(Debug)]
pub(super) struct RawTail {
    path: Utf8PathBuf,
    inode: Option<u64>,
    at: u64,
    line: Vec<u8>,
    /// Where that line begins.
    start: u64,
}

impl RawTail {
    /// Starts after the last line that is known; past the end of the file counts as a new file.
    pub(super) fn new(path: Utf8PathBuf, offset: u64) -> Self {
        Self {
            path,
            inode: None,
            at: offset,
            line: Vec::new(),
            start: offset,
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Reads up to `budget` bytes and hands over each whole line. True when there
    /// may be more.
    pub(super) fn advance(
        &mut self,
        budget: usize,
        sink: &mut dyn FnMut(RawLine<'_>),
    ) -> io::Result<bool> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let facts = file.metadata()?;
        let replaced = self.inode.is_some_and(|inode| inode != facts.ino());
        if replaced || facts.len() < self.at {
            self.at = 0;
            self.start = 0;
            self.line.clear();
        }
        self.inode = Some(facts.ino());
        if facts.len() == self.at {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(self.at))?;
        let mut chunk = vec![0; CHUNK];
        let mut left = budget;
        while left > 0 {
            let count = file.read(&mut chunk)?;
            if count == 0 {
                return Ok(false);
            }
            self.take(&chunk[..count], sink);
            left = left.saturating_sub(count);
        }
        Ok(true)
    }

    fn take(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(RawLine<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..end]);
            self.at += end as u64 + 1;
            sink(self.so_far());
            self.line.clear();
            self.start = self.at;
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes);
        self.at += bytes.len() as u64;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn so_far(&self) -> RawLine<'_> {
        RawLine {
            bytes: &self.line,
            start: self.start,
            end: self.at,
        }
    }

    /// The beginning of a last line that has no end yet.
    pub(super) fn unfinished(&self) -> Option<RawLine<'_>> {
        (!self.line.is_empty()).then(|| self.so_far())
    }
}

/// True when the file's last line has no end.
pub(crate) fn ends_unfinished(path: &Utf8Path) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut last = [0];
    file.seek(SeekFrom::End(-1)).is_ok() && file.read_exact(&mut last).is_ok() && last[0] != b'\n'
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests change their own files")]
mod tests {
    use std::io::Write;

    use super::*;

    fn append(path: &Utf8Path, bytes: &[u8]) {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .expect("open");
        file.write_all(bytes).expect("write");
    }

    fn drain(tail: &mut RawTail) -> Vec<(String, u64)> {
        let mut lines = Vec::new();
        while tail
            .advance(1 << 20, &mut |line| {
                let text = String::from_utf8_lossy(line.bytes).into_owned();
                lines.push((text, line.end));
            })
            .expect("read")
        {}
        lines
    }

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = Utf8PathBuf::from_path_buf(dir.path().join("a.log")).expect("utf-8");
        (dir, path)
    }

    #[test]
    fn lines_come_once_and_the_unfinished_one_waits() {
        let (_dir, path) = place();
        let mut tail = RawTail::new(path.clone(), 0);
        assert_eq!(drain(&mut tail), []);
        append(&path, b"one\ntw");
        assert_eq!(drain(&mut tail), [("one".to_owned(), 4)]);
        let unfinished = RawLine {
            bytes: b"tw",
            start: 4,
            end: 6,
        };
        assert_eq!(tail.unfinished(), Some(unfinished));
        append(&path, b"o\n\nfour");
        assert_eq!(
            drain(&mut tail),
            [("two".to_owned(), 8), (String::new(), 9)]
        );
        let mut again = RawTail::new(path, 8);
        assert_eq!(drain(&mut again), [(String::new(), 9)]);
        let unfinished = again.unfinished().expect("a beginning");
        assert_eq!((unfinished.bytes, unfinished.start), (&b"four"[..], 9));
    }

    #[test]
    fn a_long_line_is_cut_and_its_rest_is_no_line() {
        let (_dir, path) = place();
        append(&path, &vec![b'x'; 3 * LONGEST]);
        let mut tail = RawTail::new(path.clone(), 0);
        assert_eq!(drain(&mut tail), []);
        append(&path, b"y\nnext\n");
        let lines = drain(&mut tail);
        let end = 3 * LONGEST as u64 + 2;
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].0.len(), lines[0].1), (LONGEST, end));
        assert_eq!(lines[1], ("next".to_owned(), end + 5));
    }

    #[test]
    fn a_truncated_or_replaced_file_starts_anew() {
        let (_dir, path) = place();
        append(&path, b"one\ntwo\n");
        let mut tail = RawTail::new(path.clone(), 0);
        drain(&mut tail);
        File::options()
            .write(true)
            .truncate(true)
            .open(&path)
            .expect("truncate");
        append(&path, b"a\n");
        assert_eq!(drain(&mut tail), [("a".to_owned(), 2)]);
        // Renamed, so that the old inode is not given to the new file.
        std::fs::rename(&path, path.with_extension("old")).expect("rename");
        append(&path, b"first of many\n");
        assert_eq!(drain(&mut tail), [("first of many".to_owned(), 14)]);
    }
}
