//! Tests of this module's rules on values.

use super::*;

fn show(source: &Source<'_>, span: std::ops::Range<usize>) -> Diagnostic {
    Finding::error(Code::SYNTAX, span, "wrong")
        .label("here")
        .render(source)
}

#[test]
fn shows_the_line_with_its_neighbours() {
    let source = Source::new("cp9.yaml", "a: 1\nb: ü2\nc: 3\nd: 4\n");
    let found = show(&source, 8..11);
    assert_eq!((found.line, found.column), (2, 4));
    assert_eq!(
        found.snippet,
        " --> cp9.yaml:2:4\n  |\n1 | a: 1\n2 | b: ü2\n  |    ^^ here\n3 | c: 3"
    );
}

#[test]
fn never_shows_hidden_ranges() {
    let text = "values:\n  TOKEN: hunter2hunter2 # x\n  B: c\n";
    let at = text.find("hunter2").expect("present");
    let source = Source::new("f", text).hiding(std::iter::once(at..at + 14));
    for span in [
        at..at + 14,
        at + 3..at + 5,
        0..6,
        text.len() - 3..text.len(),
    ] {
        let found = show(&source, span);
        assert!(!found.snippet.contains("hunter"), "{}", found.snippet);
    }
    assert!(show(&source, 0..6).snippet.contains("TOKEN: *** # x"));
}

#[test]
fn cuts_long_lines_around_the_caret() {
    let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
    let found = show(&Source::new("f", &text), 500..501);
    assert!(
        found.snippet.lines().all(|line| line.chars().count() < 130),
        "{}",
        found.snippet
    );
    assert!(found.snippet.contains("aX b".replace(' ', "").as_str()));
    assert_eq!(found.column, 501);
}

#[test]
fn places_outside_the_text_do_not_panic() {
    for text in ["", "\n", "ä", "\r\n\r\n", "a\n"] {
        for at in 0..8 {
            let found = show(&Source::new("f", text), at..at + 3);
            assert!(found.line >= 1 && found.column >= 1);
        }
    }
}

#[test]
fn many_findings_are_capped_with_a_count() {
    let text = "x\n".repeat(80);
    let source = Source::new("f", &text);
    let all = (0..80)
        .rev()
        .map(|n| Finding::error(Code::VALUE, n * 2..n * 2 + 1, format!("p{n}")));
    let shown = report(&source, all.collect());
    assert_eq!(shown.len(), MOST_SHOWN + 1);
    assert_eq!(shown[0].message, "p0");
    assert_eq!(shown[MOST_SHOWN].message, "30 more problems are not shown");
}

#[test]
fn codes_are_unique_and_sorted() {
    let ids: Vec<_> = Code::ALL.iter().map(|code| code.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(ids, sorted);
}
