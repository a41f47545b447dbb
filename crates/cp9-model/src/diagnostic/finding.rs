//! A problem before it is rendered, and the rendering of many in the order of the file.

use std::ops::Range;

use super::snippet;
use super::{Code, Diagnostic, Severity, Source};

/// How many problems of one file are shown; a closing note counts the rest.
pub const MOST_SHOWN: usize = 50;

/// The longest message, in characters.
const MESSAGE: usize = 240;

/// A problem at a byte range of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its stable code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The place, in bytes.
    pub span: Range<usize>,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// The JSON pointer of the value.
    pub pointer: String,
    /// Words beside the caret.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Finding {
    /// An error at a place.
    pub fn error(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        let message = brief(message.into());
        let severity = Severity::Error;
        Self {
            code,
            severity,
            span,
            message,
            pointer: String::new(),
            label: String::new(),
            help: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, span, message)
        }
    }

    /// Names the value by its JSON pointer.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    /// Puts words beside the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Renders the finding against its source.
    pub fn render(&self, source: &Source<'_>) -> Diagnostic {
        let (line, column) = source.place(self.span.start);
        Diagnostic {
            code: self.code.id.into(),
            severity: self.severity,
            message: self.message.clone(),
            file: source.file.into(),
            line,
            column,
            pointer: self.pointer.clone(),
            help: self.help.clone(),
            snippet: snippet::render(source, self, line, column),
        }
    }
}

/// Renders findings in the order of their places, at most [`MOST_SHOWN`] and a closing note.
pub fn report(source: &Source<'_>, findings: Vec<Finding>) -> Vec<Diagnostic> {
    report_all(source, findings, 0)
}

/// The same where `more` findings were only counted.
pub(crate) fn report_all(
    source: &Source<'_>,
    mut findings: Vec<Finding>,
    more: usize,
) -> Vec<Diagnostic> {
    findings.sort_by(|a, b| {
        (a.span.start, a.code.id, &a.message).cmp(&(b.span.start, b.code.id, &b.message))
    });
    let same = |a: &Finding, b: &Finding| a.span.start == b.span.start && a.message == b.message;
    findings.dedup_by(|next, last| same(next, last));
    let hidden = findings.split_off(findings.len().min(MOST_SHOWN));
    let mut shown: Vec<_> = findings
        .iter()
        .map(|finding| finding.render(source))
        .collect();
    if let Some(first) = hidden.first() {
        let message = match hidden.len() + more {
            1 => "1 more problem is not shown".to_owned(),
            count => format!("{count} more problems are not shown"),
        };
        let severity = worst(&hidden);
        let note = Finding {
            severity,
            ..Finding::error(Code::MORE, first.span.clone(), message)
        };
        shown.push(
            note.help("mend the ones above and try again")
                .render(source),
        );
    }
    shown
}

/// A message that quotes a very long word stays readable.
fn brief(message: String) -> String {
    match message.char_indices().nth(MESSAGE) {
        Some((at, _)) => format!("{}…", &message[..at]),
        None => message,
    }
}

fn worst(findings: &[Finding]) -> Severity {
    if findings.iter().any(|f| f.severity == Severity::Error) {
        Severity::Error
    } else {
        Severity::Warning
    }
}
