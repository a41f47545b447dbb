//! The lines around a place, with a caret: long lines cut, secrets hidden, no colour.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Finding, Severity, Source};

/// Characters of a line kept before the caret, and in all.
const BEFORE: usize = 40;
const WIDTH: usize = 110;

/// Renders the line of a finding with its neighbours.
pub(super) fn render(source: &Source<'_>, finding: &Finding, line: usize, column: usize) -> String {
    let first = line.saturating_sub(1).max(1);
    let mut text = String::new();
    let mut caret = 0..0;
    let mut start = source.line_start(first);
    let mut last = first;
    for number in first..=line + 1 {
        let Some(end) = line_end(source, start) else {
            break;
        };
        let is_caret = number == line;
        let (shown, range) = shorten(source, start..end, is_caret.then_some(&finding.span));
        last = number;
        if number > first {
            text.push('\n');
        }
        if is_caret {
            caret = text.len() + range.start..text.len() + range.end;
        }
        text.push_str(&shown);
        start = end
            + source.text[end..]
                .find('\n')
                .map_or(usize::MAX / 2, |at| at + 1);
    }
    let kind = AnnotationKind::Primary.span(caret);
    let kind = if finding.label.is_empty() {
        kind
    } else {
        kind.label(finding.label.as_str())
    };
    let snippet = Snippet::source(text)
        .line_start(first)
        .fold(false)
        .annotation(kind);
    let level = if finding.severity == Severity::Error {
        Level::ERROR
    } else {
        Level::WARNING
    };
    let group = [Group::with_level(level).element(snippet)];
    let body = Renderer::plain().render(&group);
    let body: Vec<_> = body.lines().map(str::trim_end).collect();
    let gutter = " ".repeat(last.to_string().len());
    let bar = format!("{gutter} |");
    let body = body.strip_prefix(&[""]).unwrap_or(&body);
    let body = body
        .strip_suffix(&[bar.as_str()])
        .unwrap_or(body)
        .join("\n");
    format!("{gutter}--> {}:{line}:{column}\n{body}", source.file)
}

fn line_end(source: &Source<'_>, start: usize) -> Option<usize> {
    let rest = source.text.get(start..)?;
    let length = rest.find('\n').unwrap_or(rest.len());
    Some(
        start
            + rest[..length]
                .strip_suffix('\r')
                .unwrap_or(&rest[..length])
                .len(),
    )
}

/// One line as shown, and where the span lies in it.
fn shorten(
    source: &Source<'_>,
    line: Range<usize>,
    span: Option<&Range<usize>>,
) -> (String, Range<usize>) {
    let (mut shown, caret) = mask(source, &line, span);
    let mut caret = caret.unwrap_or(0..0);
    let before = shown[..caret.start].chars().count();
    if shown.chars().count() > WIDTH {
        let skip = before.saturating_sub(BEFORE);
        let from = nth(&shown, skip);
        let to = nth(&shown, skip + WIDTH);
        let head = if from > 0 { "…" } else { "" };
        let tail = if to < shown.len() { "…" } else { "" };
        let end = caret.end.min(to).max(caret.start);
        caret = head.len() + caret.start - from..head.len() + end - from;
        shown = format!("{head}{}{tail}", &shown[from..to]);
    }
    (shown, caret)
}

fn nth(text: &str, characters: usize) -> usize {
    text.char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at)
}

/// The line with every secret run as `***`, and the span in it; control characters are made plain.
fn mask(
    source: &Source<'_>,
    line: &Range<usize>,
    span: Option<&Range<usize>>,
) -> (String, Option<Range<usize>>) {
    let mut shown = String::new();
    let (mut from, mut to) = (None, None);
    let mut hidden = source
        .secret()
        .iter()
        .skip_while(|r| r.end <= line.start)
        .peekable();
    for (at, character) in source.text[line.clone()].char_indices() {
        let at = line.start + at;
        while hidden.next_if(|r| r.end <= at).is_some() {}
        let run = hidden.peek().filter(|run| run.contains(&at));
        if run.is_some_and(|run| at == run.start.max(line.start)) {
            shown.push_str("***");
        }
        if let Some(span) = span {
            // A place inside of a hidden run is the whole run.
            let start = shown.len() - if run.is_some() { 3 } else { 0 };
            from = from.or((at >= span.start).then_some(start));
            to = to.or((at >= span.end).then_some(shown.len()));
        }
        match character {
            _ if run.is_some() => {}
            '\u{feff}' => {}
            _ if character.is_control() => shown.push(' '),
            _ => shown.push(character),
        }
    }
    let end = shown.len();
    let range = span.map(|_| from.unwrap_or(end)..to.unwrap_or(end).max(from.unwrap_or(end)));
    (shown, range)
}
