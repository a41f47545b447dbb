//! One path template, such as `/clusters/{id}:pause` or `/{from}-{to}/`.

use std::cmp::{Ordering, Reverse};

use super::percent::percent_decode;

/// Text, or a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    Parameter,
}

/// What stands between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment(Vec<Piece>);

/// A parsed template. Two that differ in the names of parameters alone are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    segments: Vec<Segment>,
    /// Query parameters that some documents write into the path.
    query: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) trailing_slash: bool,
}

/// A request's path, split and decoded once.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) segments: Vec<Vec<u8>>,
    pub(crate) trailing_slash: bool,
    query: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Path {
    /// Splits before decoding, so that `%2F` stays inside its segment.
    pub(crate) fn of(path: &str, query: &str) -> Self {
        let (segments, trailing_slash) = split(path);
        Self {
            segments: segments.into_iter().map(percent_decode).collect(),
            trailing_slash,
            query: pairs(query),
        }
    }
}

impl Template {
    /// Parses a key of `paths`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err(format!("path `{text}` does not begin with `/`"));
        }
        if text.contains('#') {
            return Err(format!(
                "path `{text}` has a fragment, which no request carries"
            ));
        }
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let (segments, trailing_slash) = split(path);
        let mut names = Vec::new();
        let segments = segments
            .into_iter()
            .map(|segment| pieces(segment, &mut names).map(Segment))
            .collect::<Result<_, _>>();
        Ok(Self {
            segments: segments.map_err(|why| format!("path `{text}` {why}"))?,
            query: pairs(query),
            trailing_slash,
        })
    }

    /// How many segments it has.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// True without parameters.
    pub(crate) fn is_literal(&self) -> bool {
        let mut pieces = self.segments.iter().flat_map(|segment| &segment.0);
        !pieces.any(|piece| *piece == Piece::Parameter)
    }

    /// True if the path is one of the template's, whatever its last slash.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.segments.len() == path.segments.len()
            && self.query.iter().all(|pair| path.query.contains(pair))
            && self
                .segments
                .iter()
                .zip(&path.segments)
                .all(|(segment, text)| segment.matches(text))
    }

    /// The more exact template comes first.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let ranks =
            |template: &Self| -> Vec<_> { template.segments.iter().map(Segment::rank).collect() };
        ranks(self)
            .cmp(&ranks(other))
            .then(other.query.len().cmp(&self.query.len()))
    }
}

impl Segment {
    /// Literals first, then mixtures by the length of their text, then bare parameters.
    fn rank(&self) -> (bool, Reverse<usize>, usize) {
        let parameters = self.0.iter().filter(|piece| **piece == Piece::Parameter);
        let parameters = parameters.count();
        let text: usize = self
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Literal(text) => text.len(),
                Piece::Parameter => 0,
            })
            .sum();
        let text = if parameters == 0 { 0 } else { text };
        (parameters > 0, Reverse(text), parameters)
    }

    /// Every parameter takes at least one byte. Taking each literal at its first place finds a
    /// match if there is one, as in file globs.
    fn matches(&self, text: &[u8]) -> bool {
        let mut rest = text;
        let mut skip = 0;
        for (index, piece) in self.0.iter().enumerate() {
            let Piece::Literal(literal) = piece else {
                skip += 1;
                continue;
            };
            let Some(tail) = rest.get(skip..) else {
                return false;
            };
            let is_last = index + 1 == self.0.len();
            let place = if skip == 0 {
                tail.starts_with(literal).then_some(0)
            } else if is_last {
                (tail.ends_with(literal)).then(|| tail.len() - literal.len())
            } else {
                tail.windows(literal.len())
                    .position(|found| found == literal)
            };
            let Some(place) = place else { return false };
            rest = &tail[place + literal.len()..];
            skip = 0;
        }
        if skip == 0 {
            rest.is_empty()
        } else {
            rest.len() >= skip
        }
    }
}

/// The segments of a path, and whether a slash follows the last.
fn split(path: &str) -> (Vec<&str>, bool) {
    let path = path.strip_prefix('/').unwrap_or(path);
    let (path, trailing) = match path.strip_suffix('/') {
        Some(shorter) => (shorter, true),
        None => (path, path.is_empty()),
    };
    if path.is_empty() {
        return (Vec::new(), trailing);
    }
    (path.split('/').collect(), trailing)
}

fn pieces(segment: &str, names: &mut Vec<String>) -> Result<Vec<Piece>, String> {
    let mut found = Vec::new();
    let mut rest = segment;
    while !rest.is_empty() {
        let (text, tail) = match rest.split_once('{') {
            Some((text, tail)) => (text, Some(tail)),
            None => (rest, None),
        };
        if text.contains('}') {
            return Err("has a `}` without its `{`".into());
        }
        if !text.is_empty() {
            found.push(Piece::Literal(percent_decode(text)));
        }
        let Some(tail) = tail else { break };
        let Some((name, after)) = tail.split_once('}') else {
            return Err("has a `{` without its `}`".into());
        };
        if name.is_empty() || name.contains('{') {
            return Err("has a parameter without a name".into());
        }
        if names.iter().any(|known| known == name) {
            return Err(format!("has the parameter `{name}` twice"));
        }
        names.push(name.to_owned());
        found.push(Piece::Parameter);
        rest = after;
    }
    if found.is_empty() {
        found.push(Piece::Literal(Vec::new()));
    }
    Ok(found)
}

fn pairs(query: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (percent_decode(name), percent_decode(value))
        })
        .collect()
}
