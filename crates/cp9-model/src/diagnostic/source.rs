//! A file's text as diagnostics see it: places by line and column, secret ranges hidden.

use std::ops::Range;

/// The text that findings point into.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// The file's name as shown.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Byte ranges that no snippet may show, sorted and disjoint.
    secret: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    /// A text without secrets.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            secret: Vec::new(),
        }
    }

    /// The same text with byte ranges that snippets must not show.
    #[must_use]
    pub fn hiding(mut self, ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        self.secret
            .extend(ranges.into_iter().filter(|r| r.start < r.end));
        self.secret.sort_by_key(|r| (r.start, r.end));
        self.secret.dedup_by(|next, last| {
            let joins = next.start <= last.end;
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
        self
    }

    /// The hidden ranges, sorted and disjoint.
    pub(crate) fn secret(&self) -> &[Range<usize>] {
        &self.secret
    }

    /// True if any part of a byte range is hidden; of an empty range, the place.
    pub(crate) fn hides(&self, range: &Range<usize>) -> bool {
        let end = range.end.max(range.start + 1);
        self.secret
            .iter()
            .any(|hidden| hidden.start < end && range.start < hidden.end)
    }

    /// The nearest character boundary at or before a byte offset.
    pub(crate) fn boundary(&self, offset: usize) -> usize {
        let mut at = offset.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Line and column of a byte offset, both from 1, the column in characters.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..self.boundary(offset)];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = before[start..]
            .strip_prefix('\u{feff}')
            .unwrap_or(&before[start..]);
        (line, text.chars().count() + 1)
    }

    /// The byte offset where a line starts, the last line's for one beyond the end.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        let ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
        std::iter::once(0)
            .chain(ends)
            .take(line.max(1))
            .last()
            .unwrap_or(0)
    }
}
