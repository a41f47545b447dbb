//! Secrets in raw files: what a process itself has printed is written over in its place, so that no
//! offset changes and the process goes on appending.

use camino::Utf8Path;
use cp9_tools::redact::MASK;
use cp9_tools::{Doors, Redactor};

use super::raw::RawLine;
use super::record::masked;

/// How much of a long line is written over at once.
const CHUNK: usize = 4 * 1024;

/// What has to be written over in one raw file.
#[derive(Debug)]
pub(super) struct Masks {
    redactor: Redactor,
    waiting: Vec<Mask>,
    /// How far a line without an end has been looked at.
    looked: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Mask {
    start: u64,
    text: Vec<u8>,
    /// How many blanks follow, to the end of the line.
    blanks: usize,
}

impl Masks {
    /// Knows of nothing yet.
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            waiting: Vec::new(),
            looked: 0,
        }
    }

    /// Takes note of a whole line, of which that text is shown.
    pub(super) fn line(&mut self, line: RawLine<'_>, shown: &str) {
        // Plain text is shown as it is, so that most lines need no second look.
        let is_plain = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~');
        let cut = line.end - 1 - line.start > line.bytes.len() as u64;
        if cut || shown.contains(MASK) || !line.bytes.iter().all(is_plain) {
            self.note(line, line.end - 1);
        }
    }

    /// Takes note of the beginning of a line, unless it is as it was. One that is too long is looked at
    /// when it has an end.
    pub(super) fn unfinished(&mut self, line: RawLine<'_>) {
        let cut = line.end - line.start > line.bytes.len() as u64;
        if self.looked != line.end && !cut {
            self.looked = line.end;
            self.note(line, line.end);
        }
    }

    fn note(&mut self, line: RawLine<'_>, end: u64) {
        let room = usize::try_from(end - line.start).unwrap_or(usize::MAX);
        let text = masked(line.bytes, &self.redactor);
        // Nobody has looked at what is cut off a line, so none of it stays.
        let is_cut = room > line.bytes.len();
        let Some(mut text) = text.or_else(|| is_cut.then(|| kept(line, &self.redactor))) else {
            return;
        };
        text.truncate(text.floor_char_boundary(room));
        self.waiting.push(Mask {
            start: line.start,
            blanks: room - text.len(),
            text: text.into_bytes(),
        });
    }

    /// Writes over what was noted. What cannot be written now stays as it is, private to its owner.
    pub(super) fn lay(&mut self, doors: &Doors, raw: &Utf8Path) {
        for mask in self.waiting.drain(..) {
            let mut at = mask.start;
            let blanks = [b' '; CHUNK];
            let mut parts = vec![mask.text.as_slice()];
            parts.extend(std::iter::repeat_n(&blanks[..], mask.blanks / CHUNK));
            parts.push(&blanks[..mask.blanks % CHUNK]);
            for part in parts {
                if !matches!(doors.overwrite(raw, at, part), Ok(true)) {
                    break;
                }
                at += part.len() as u64;
            }
        }
    }
}

/// What stays of a line that was cut: the beginning of a secret may stand at its end.
fn kept(line: RawLine<'_>, redactor: &Redactor) -> String {
    redactor.redact_cut(&String::from_utf8_lossy(line.bytes))
}

#[cfg(test)]
#[path = "mask_tests.rs"]
mod tests;
