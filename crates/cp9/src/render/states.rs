//! The lifecycle's states, as a table and as a line each.

use anstyle::Style;
use cp9_model::report::StateReport;

use super::style::{BAD, BUSY, DIM, GOOD, clean, paint, seconds};
use super::table::{Cell, table};

/// All states.
pub(crate) fn states(states: &[StateReport]) -> String {
    let rows: Vec<_> = states.iter().map(|state| (row(state), None)).collect();
    table(&["STATE", "STATUS", "TIME", "MESSAGE"], &rows)
}

fn row(state: &StateReport) -> Vec<Cell> {
    let mut row = vec![
        Cell::plain(&state.name),
        Cell::new(&state.status, style(&state.status)),
        Cell::plain(state.seconds.map(seconds).unwrap_or_default()),
    ];
    row.extend(state.message.as_deref().map(Cell::plain));
    row
}

/// One state that ended, such as `host_ready done (0.1 s)`.
pub(crate) fn line(state: &StateReport) -> String {
    let time = state
        .seconds
        .map(|value| format!(" ({})", seconds(value)))
        .unwrap_or_default();
    let message = state
        .message
        .as_deref()
        .map(|text| format!(": {}", clean(text)))
        .unwrap_or_default();
    format!(
        "{} {}{time}{message}",
        state.name,
        paint(style(&state.status), &state.status)
    )
}

/// The style of a status word.
pub(crate) fn style(status: &str) -> Style {
    match status {
        "done" | "kept" => GOOD,
        "failed" => BAD,
        "running" | "partial" | "interrupted" => BUSY,
        _ => DIM,
    }
}
