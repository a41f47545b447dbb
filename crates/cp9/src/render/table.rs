//! Aligned columns without borders.

use anstyle::Style;

use super::style::{HEAD, clean, paint};

/// A field of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A field in the given style; an absent value is shown as `-`.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        let text = clean(&text.into()).replace(['\n', '\t'], " ");
        Self {
            text: if text.is_empty() { "-".into() } else { text },
            style,
        }
    }

    /// A field without style.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::new())
    }
}

/// The rows below their headings; every row may carry lines that belong under it.
pub(crate) fn table(headings: &[&str], rows: &[(Vec<Cell>, Option<String>)]) -> String {
    let headings: Vec<Cell> = headings.iter().map(|text| Cell::new(*text, HEAD)).collect();
    let mut widths: Vec<usize> = headings.iter().map(width).collect();
    for (row, _) in rows {
        for (cell, widest) in row.iter().zip(&mut widths) {
            *widest = (*widest).max(width(cell));
        }
    }
    let mut lines = vec![line(&headings, &widths)];
    for (row, below) in rows {
        lines.push(line(row, &widths));
        lines.extend(below.clone());
    }
    lines.join("\n") + "\n"
}

fn width(cell: &Cell) -> usize {
    cell.text.chars().count()
}

/// One row; the last column is not padded.
fn line(row: &[Cell], widths: &[usize]) -> String {
    let last = row.len().saturating_sub(1);
    let fields = row
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(column, (cell, widest))| {
            let padding = if column == last {
                0
            } else {
                widest - width(cell)
            };
            format!("{}{:padding$}", paint(cell.style, &cell.text), "")
        });
    fields.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let row = |a: &str, b: &str| (vec![Cell::plain(a), Cell::plain(b)], None);
        let mut rows = vec![row("grün", "1"), row("b", "")];
        rows[0].1 = Some("    why".into());
        let text = anstream::adapter::strip_str(&table(&["NAME", "N"], &rows)).to_string();
        assert_eq!(text, "NAME  N\ngrün  1\n    why\nb     -\n");
    }
}
