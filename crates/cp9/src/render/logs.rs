//! One line of a log: `[time] service | text`.

use anstyle::Style;
use cp9_model::report::LogLine;

use super::style::{BAD, BUSY, DIM, clean, paint};

/// The line as text.
pub(crate) fn line(line: &LogLine) -> String {
    let style = match line.level.as_deref() {
        Some("error") => BAD,
        Some("warn") => BUSY,
        Some("debug") => DIM,
        _ => Style::new(),
    };
    let stamp = paint(DIM, &format!("[{}]", clean(&line.time)));
    format!(
        "{stamp} {} | {}",
        line.service,
        paint(style, &clean(&line.text))
    )
}
