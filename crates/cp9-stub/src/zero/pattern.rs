//! Short strings that match a pattern, read off the pattern itself.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The most repetitions that are tried to reach a length.
const TRIES: usize = 256;
/// The longest string that is built, in bytes.
const LONGEST: usize = 70_000;

/// Candidates of at least `min` characters where that can be had, shortest first; the caller
/// checks them, for anchors and word boundaries are passed over here.
pub(crate) fn samples(pattern: &str, min: usize) -> Vec<String> {
    let Ok(hir) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for extra in (0..TRIES.min(min + 2)).chain([min]) {
        let Some(text) = shortest(&hir, extra) else {
            break;
        };
        let length = text.chars().count();
        let pad = "a".repeat(min.saturating_sub(length));
        // Without anchors any text may stand around a match.
        for candidate in [format!("{text}{pad}"), format!("{pad}{text}"), text] {
            if !found.contains(&candidate) {
                found.push(candidate);
            }
        }
        if length >= min {
            break;
        }
    }
    found.extend(branches(&hir));
    found
}

/// Each branch of an outer alternation, for the case that only a longer one will do.
fn branches(hir: &Hir) -> Vec<String> {
    match hir.kind() {
        HirKind::Alternation(list) => list.iter().filter_map(|one| shortest(one, 0)).collect(),
        HirKind::Capture(capture) => branches(&capture.sub),
        HirKind::Concat(list) => {
            let mut found = vec![String::new()];
            for part in list {
                let own = branches(part);
                let Some(plain) = shortest(part, 0) else {
                    return Vec::new();
                };
                let own = if own.is_empty() { vec![plain] } else { own };
                found = found
                    .iter()
                    .flat_map(|head| own.iter().map(move |tail| format!("{head}{tail}")))
                    .take(64)
                    .collect();
            }
            found
        }
        _ => Vec::new(),
    }
}

/// A match with every repetition taken `extra` times more often than it must be.
fn shortest(hir: &Hir, extra: usize) -> Option<String> {
    let text = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => String::new(),
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok()?,
        HirKind::Class(class) => plainest(class)?.to_string(),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.map_or(usize::MAX, |max| max as usize);
            let times = (repetition.min as usize).saturating_add(extra).min(most);
            let one = shortest(&repetition.sub, extra)?;
            if one.len().saturating_mul(times) > LONGEST {
                return None;
            }
            one.repeat(times)
        }
        HirKind::Capture(capture) => shortest(&capture.sub, extra)?,
        HirKind::Concat(list) => {
            let parts = list.iter().map(|part| shortest(part, extra));
            parts.collect::<Option<Vec<_>>>()?.concat()
        }
        HirKind::Alternation(list) => {
            let branches = list.iter().filter_map(|part| shortest(part, extra));
            branches.min_by_key(String::len)?
        }
    };
    (text.len() <= LONGEST).then_some(text)
}

/// The character of a class that reads best.
fn plainest(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.iter().map(|r| (r.start(), r.end())).collect(),
        Class::Bytes(class) => class
            .iter()
            .filter(|r| r.end().is_ascii())
            .map(|r| (r.start().into(), r.end().into()))
            .collect(),
    };
    let holds = |c: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
    let visible = (' '..='~').find(|c| holds(*c));
    let liked = ['a', '0', 'A'].into_iter().find(|c| holds(*c));
    liked
        .or(visible)
        .or_else(|| ranges.first().map(|(from, _)| *from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, min: usize) -> Option<String> {
        let regex = regex::Regex::new(pattern).expect("a pattern");
        samples(pattern, min)
            .into_iter()
            .find(|text| regex.is_match(text) && text.chars().count() >= min)
    }

    #[test]
    fn the_shortest_match_comes_first() {
        let cases = [
            (r"^(?:top|bottom|after:\d+)$", 0, "top"),
            (r"^(?:top|bottom|after:\d+)$", 5, "bottom"),
            ("^[0-9a-fA-F]+$", 0, "a"),
            ("^[0-9a-fA-F]{2,}$", 4, "aaaa"),
            ("^[A-Z]{3}-[0-9]{4}$", 0, "AAA-0000"),
            ("b", 3, "baa"),
            ("x$", 3, "aax"),
            (r"^\+?[1-9]\d{1,14}$", 0, "10"),
        ];
        for (pattern, min, expected) in cases {
            assert_eq!(found(pattern, min).as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn what_cannot_match_gives_nothing() {
        assert_eq!(found("^a$", 3), None);
        assert_eq!(samples("(?:a{900}){900}", 0), Vec::<String>::new());
    }
}
