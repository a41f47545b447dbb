//! The ARN of a type as a pattern: read off an ARN, or written from its parts.

use std::collections::BTreeMap;

/// The parts of an ARN by the names of their placeholders.
pub type Parts = BTreeMap<String, String>;

/// `service:region:account:resource` with placeholders: `{name}` for one segment, `{name+}` for the rest with
/// its slashes and colons, `{name*}` for a path that ends in a slash or is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArnPattern {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    One(String),
    Rest(String),
    Path(String),
}

impl ArnPattern {
    /// Reads a pattern; none when a brace has no partner.
    pub fn new(pattern: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut left = pattern;
        while let Some((text, rest)) = left.split_once('{') {
            let (name, rest) = rest.split_once('}')?;
            if !text.is_empty() {
                pieces.push(Piece::Text(text.to_owned()));
            }
            pieces.push(match (name.strip_suffix('+'), name.strip_suffix('*')) {
                (Some(name), _) => Piece::Rest(name.to_owned()),
                (None, Some(name)) => Piece::Path(name.to_owned()),
                (None, None) => Piece::One(name.to_owned()),
            });
            left = rest;
        }
        if !left.is_empty() {
            pieces.push(Piece::Text(left.to_owned()));
        }
        Some(Self { pieces })
    }

    /// The names of its placeholders, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::One(name) | Piece::Rest(name) | Piece::Path(name) => Some(name.as_str()),
        })
    }

    /// True when its last part may have slashes.
    pub fn ends_open(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Rest(_)))
    }

    /// How much of it is fixed: of two patterns that fit, the one with more says more.
    pub fn weight(&self) -> usize {
        let fixed = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.len(),
            _ => 0,
        });
        fixed.sum()
    }

    /// The parts of an ARN that fits, its partition among them.
    pub fn read(&self, arn: &str) -> Option<Parts> {
        let (partition, rest) = arn.strip_prefix("arn:")?.split_once(':')?;
        let mut parts = fit(&self.pieces, rest)?;
        parts.insert("partition".into(), partition.to_owned());
        parts.insert("arn".into(), arn.to_owned());
        Some(parts)
    }

    /// The ARN of these parts; none when one is missing. A path may be.
    pub fn write(&self, parts: &Parts) -> Option<String> {
        let mut arn = format!("arn:{}:", parts.get("partition")?);
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => arn.push_str(text),
                Piece::One(name) | Piece::Rest(name) => arn.push_str(parts.get(name)?),
                Piece::Path(name) => arn.push_str(parts.get(name).map_or("", String::as_str)),
            }
        }
        Some(arn)
    }
}

fn fit(pieces: &[Piece], text: &str) -> Option<Parts> {
    let Some((first, later)) = pieces.split_first() else {
        return text.is_empty().then(Parts::new);
    };
    match first {
        Piece::Text(fixed) => fit(later, text.strip_prefix(fixed.as_str())?),
        Piece::One(name) => {
            let end = text.find([':', '/']).unwrap_or(text.len());
            (end > 0).then_some(())?;
            with(name, text, end, later)
        }
        Piece::Rest(name) => {
            let ends = (1..=text.len())
                .rev()
                .filter(|end| text.is_char_boundary(*end));
            ends.into_iter()
                .find_map(|end| with(name, text, end, later))
        }
        Piece::Path(name) => {
            let slashes = text.match_indices('/').map(|(at, _)| at + 1);
            let mut ends: Vec<usize> = slashes.collect();
            ends.push(0);
            ends.sort_unstable();
            ends.into_iter()
                .rev()
                .find_map(|end| with(name, text, end, later))
        }
    }
}

fn with(name: &str, text: &str, end: usize, later: &[Piece]) -> Option<Parts> {
    let mut parts = fit(later, &text[end..])?;
    let value = text[..end].to_owned();
    // A name that stands twice stands for one thing.
    match parts.insert(name.to_owned(), value.clone()) {
        Some(other) if other != value => None,
        _ => Some(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_read_what_they_write() {
        for (pattern, arn, name, value) in [
            (
                "ec2:{region}:{account}:vpc/{id}",
                "arn:aws:ec2:eu-west-1:1:vpc/vpc-1",
                "id",
                "vpc-1",
            ),
            (
                "iam::{account}:role/{path*}{name}",
                "arn:aws:iam::1:role/a/b/c",
                "name",
                "c",
            ),
            (
                "iam::{account}:role/{path*}{name}",
                "arn:aws-cn:iam::1:role/c",
                "path",
                "",
            ),
            (
                "s3:::{name}",
                "arn:aws:s3:::bucket.with-dots",
                "name",
                "bucket.with-dots",
            ),
            (
                "logs:{region}:{account}:log-group:{name+}",
                "arn:aws:logs:eu-west-1:1:log-group:/aws/x:y",
                "name",
                "/aws/x:y",
            ),
            (
                "eks:{region}:{account}:access-entry/{cluster}/{type}/{owner}/{principal+}/{uuid}",
                "arn:aws:eks:eu-west-1:1:access-entry/c/role/2/team/ann/u-1",
                "principal",
                "team/ann",
            ),
        ] {
            let pattern = ArnPattern::new(pattern).expect("a pattern");
            let parts = pattern.read(arn).expect("it fits");
            assert_eq!(parts.get(name).map(String::as_str), Some(value), "{arn}");
            assert_eq!(pattern.write(&parts).as_deref(), Some(arn));
        }
    }

    #[test]
    fn other_arns_do_not_fit() {
        let pattern = ArnPattern::new("sqs:{region}:{account}:{name}").expect("a pattern");
        for other in [
            "arn:aws:sns:eu-west-1:1:name",
            "arn:aws:sqs:eu-west-1:1:name:sub",
            "arn:aws:sqs:eu-west-1:1:",
            "arn:aws:sqs:eu-west-1::name",
            "sqs:eu-west-1:1:name",
            "",
        ] {
            assert_eq!(pattern.read(other), None, "{other}");
        }
        assert_eq!(ArnPattern::new("a{b"), None);
    }
}
