//! What is kept of a program's output while it runs.

use std::collections::VecDeque;

use crate::lines::RedactingLines;
use crate::redact::Redactor;

use super::output::StreamKind;

/// Lines kept of each streamed output.
const LINES_KEPT: usize = 400;
/// Bytes kept of standard error.
pub(super) const STDERR_KEPT: usize = 256 * 1024;

/// Receives one stream.
#[derive(Debug)]
pub(super) enum Capture {
    /// The first bytes.
    Head {
        bytes: Vec<u8>,
        cap: usize,
        more: bool,
    },
    /// The last bytes.
    Tail {
        bytes: Vec<u8>,
        cap: usize,
        more: bool,
    },
    /// Lines handed on, the last ones kept.
    Lines {
        lines: RedactingLines,
        kept: VecDeque<String>,
        more: bool,
    },
}

impl Capture {
    pub(super) fn head(cap: usize) -> Self {
        Self::Head {
            bytes: Vec::new(),
            cap,
            more: false,
        }
    }

    pub(super) fn tail(cap: usize) -> Self {
        Self::Tail {
            bytes: Vec::new(),
            cap,
            more: false,
        }
    }

    pub(super) fn lines(redactor: &Redactor) -> Self {
        Self::Lines {
            lines: RedactingLines::new(redactor.clone()),
            kept: VecDeque::new(),
            more: false,
        }
    }

    pub(super) fn take<F>(&mut self, data: &[u8], kind: StreamKind, sink: &mut F)
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        match self {
            Self::Head { bytes, cap, more } => {
                let room = cap.saturating_sub(bytes.len());
                *more |= data.len() > room;
                bytes.extend_from_slice(&data[..data.len().min(room)]);
            }
            Self::Tail { bytes, cap, more } => {
                bytes.extend_from_slice(data);
                if bytes.len() > 2 * *cap {
                    bytes.drain(..bytes.len() - *cap);
                    *more = true;
                }
            }
            Self::Lines { lines, kept, more } => {
                lines.push(data, &mut |line| keep(kept, more, line, kind, sink));
            }
        }
    }

    pub(super) fn end<F>(&mut self, kind: StreamKind, sink: &mut F)
    where
        F: FnMut(StreamKind, &str) + ?Sized,
    {
        if let Self::Lines { lines, kept, more } = self {
            lines.finish(&mut |line| keep(kept, more, line, kind, sink));
        }
    }

    /// The kept text, and whether there was more. Where the beginning was dropped, what may be
    /// the rest of a secret of the given length goes too.
    pub(super) fn text(self, longest: usize) -> (String, bool) {
        match self {
            Self::Head { bytes, more, .. } => (lossy(bytes), more),
            Self::Tail { bytes, cap, more } => {
                let more = more || bytes.len() > cap;
                let mut start = bytes.len().saturating_sub(cap);
                if more {
                    start = (start + longest).min(bytes.len());
                }
                (String::from_utf8_lossy(&bytes[start..]).into_owned(), more)
            }
            Self::Lines { kept, more, .. } => {
                let text = kept
                    .into_iter()
                    .fold(String::new(), |text, line| text + &line + "\n");
                (text, more)
            }
        }
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn keep<F>(kept: &mut VecDeque<String>, more: &mut bool, line: &str, kind: StreamKind, sink: &mut F)
where
    F: FnMut(StreamKind, &str) + ?Sized,
{
    if kept.len() == LINES_KEPT {
        kept.pop_front();
        *more = true;
    }
    kept.push_back(line.to_owned());
    sink(kind, line);
}
