//! The few styles there are, and text from outside made safe for a terminal. Every colour stands
//! beside a word that says the same.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

/// Something is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Something failed.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something is under way or was interrupted.
pub(crate) const BUSY: Style = AnsiColor::Yellow.on_default();
/// What to do next.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
/// Less important.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Headings.
pub(crate) const HEAD: Style = Style::new().bold();

/// The text in a style; streams that are no terminals strip it again.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Escapes control characters other than line ends and tabs.
pub(crate) fn clean(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' && c != '\t' {
            let _ = write!(safe, "{}", c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Each line behind `margin`.
pub(crate) fn indent(margin: &str, text: &str) -> String {
    let lines: Vec<String> = clean(text)
        .lines()
        .map(|line| format!("{margin}{line}").trim_end().to_owned())
        .collect();
    lines.join("\n")
}

/// Seconds as people read them.
pub(crate) fn seconds(value: f64) -> String {
    format!("{value:.1} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        assert_eq!(
            clean("a\u{1b}[31mb\r\n\tc\u{7}"),
            "a\\u{1b}[31mb\\r\n\tc\\u{7}"
        );
        assert_eq!(clean("grün ✓"), "grün ✓");
    }

    #[test]
    fn every_line_is_indented() {
        assert_eq!(indent("    ", "a\n\nb\n"), "    a\n\n    b");
    }
}
