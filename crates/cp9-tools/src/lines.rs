//! Bytes of a program in, clean lines out: lossy UTF-8, `\r` as an update of the line, no control
//! characters, no secrets, bounded length.

use crate::redact::Redactor;

/// What is kept of one line; the rest up to its end is dropped.
const LONGEST_LINE: usize = 256 * 1024;

/// Splits a stream into lines that may be shown and stored. A secret that straddles two chunks is
/// found, because only whole lines are looked at.
#[derive(Debug)]
pub struct RedactingLines {
    redactor: Redactor,
    line: Vec<u8>,
    returned: bool,
    cut: bool,
}

impl RedactingLines {
    /// Starts with an empty line.
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            line: Vec::new(),
            returned: false,
            cut: false,
        }
    }

    /// Takes the next bytes and hands every line that they complete to `sink`.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(&str)) {
        while let Some(at) = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            self.extend(&bytes[..at]);
            if bytes[at] == b'\n' {
                self.emit(sink);
            } else {
                self.returned = true;
            }
            bytes = &bytes[at + 1..];
        }
        self.extend(bytes);
    }

    /// Hands the last line to `sink` if the stream ended without a line end.
    pub fn finish(&mut self, sink: &mut dyn FnMut(&str)) {
        if !self.line.is_empty() {
            self.emit(sink);
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) {
            self.line.clear();
            self.cut = false;
        }
        let room = LONGEST_LINE.saturating_sub(self.line.len());
        self.cut |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn emit(&mut self, sink: &mut dyn FnMut(&str)) {
        let text = strip_control(&String::from_utf8_lossy(&self.line));
        if self.cut {
            // The end may be the beginning of a secret whose rest was dropped.
            let settled = self.redactor.settled(&text);
            sink(&(self.redactor.redact(&text[..settled]) + "…"));
        } else {
            sink(&self.redactor.redact(&text));
        }
        self.line.clear();
        self.returned = false;
        self.cut = false;
    }
}

/// The text without escape sequences, control characters and changes of writing direction. Tabs
/// and line ends stay.
pub fn strip_control(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\t' | '\n' => clean.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean
}

type Chars<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
            chars.next_if(|c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_csi(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

/// Skips to the string's terminator; without one nothing is skipped, lest a stray byte hide a line.
fn skip_string(chars: &mut Chars<'_>) {
    let mut ahead = chars.clone();
    while let Some(c) = ahead.next() {
        let ended = match c {
            '\u{7}' | '\u{9c}' => true,
            '\u{1b}' => ahead.next_if_eq(&'\\').is_some(),
            _ => false,
        };
        if ended {
            *chars = ahead;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    fn split(redactor: &Redactor, chunks: &[&[u8]]) -> Vec<String> {
        let mut said = Vec::new();
        let mut lines = RedactingLines::new(redactor.clone());
        for chunk in chunks {
            lines.push(chunk, &mut |line| said.push(line.to_owned()));
        }
        lines.finish(&mut |line| said.push(line.to_owned()));
        said
    }

    fn plain(chunks: &[&[u8]]) -> Vec<String> {
        split(&Redactor::new(), chunks)
    }

    #[test]
    fn ends_of_lines() {
        assert_eq!(plain(&[b"a\nb\r\n\nc"]), ["a", "b", "", "c"]);
        assert_eq!(plain(&[b"a\r", b"\nb"]), ["a", "b"]);
        assert_eq!(plain(&[b""]), Vec::<String>::new());
        assert_eq!(plain(&[b"\n"]), [""]);
    }

    #[test]
    fn carriage_return_updates_the_line() {
        assert_eq!(plain(&[b"10%\r50%\r100%\ndone"]), ["100%", "done"]);
        assert_eq!(plain(&[b"10%\r50%\r"]), ["50%"]);
        assert_eq!(plain(&[b"a\r\r\nb"]), ["a", "b"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown() {
        assert_eq!(
            plain(&[b"\xff\xfea\n", b"\xc3", b"\xa4\n"]),
            ["\u{fffd}\u{fffd}a", "ä"]
        );
    }

    #[test]
    fn control_characters_go() {
        let text =
            "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}x\u{1b}(B\u{8}\u{0}\u{9b}2Jy\tz\u{202e}";
        assert_eq!(strip_control(text), "red xy\tz");
        assert_eq!(strip_control("\u{1b}]never ended"), "never ended");
        assert_eq!(strip_control("a\u{1b}"), "a");
        assert_eq!(strip_control("a\u{1b}["), "a");
        assert_eq!(strip_control("\u{1b}Pq\u{1b}\\b"), "b");
    }

    #[test]
    fn escapes_inside_a_secret_do_not_save_it() {
        let redactor = Redactor::new();
        redactor.add(&Secret::new("hunter22"));
        assert_eq!(split(&redactor, &[b"is hun\x1b[0mter22\n"]), ["is ***"]);
    }

    #[test]
    fn endless_lines_are_cut_without_the_beginning_of_a_secret() {
        let redactor = Redactor::new();
        redactor.add(&Secret::new("hunter22hunter22"));
        let mut line = vec![b'a'; LONGEST_LINE - 10];
        line.extend_from_slice(b"hunter22hunter22 and more\nnext");
        let said = split(&redactor, &[&line]);
        assert_eq!(said.len(), 2);
        assert!(
            said[0].ends_with("a…"),
            "{}",
            &said[0][said[0].len() - 30..]
        );
        assert_eq!(said[1], "next");
    }
}
