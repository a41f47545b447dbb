//! The shortest string that its length, format and patterns allow.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

use super::format;
use super::pattern;
use super::shape::Shape;
use crate::reason::Reason;

/// The longest string that is ever made up, in characters.
const LONGEST: u64 = 65_536;

/// Compiled patterns, for those that come again and again.
#[derive(Debug, Default)]
pub(crate) struct Patterns(HashMap<String, Option<Regex>>);

impl Patterns {
    fn get(&mut self, pattern: &str) -> Option<Regex> {
        if let Some(known) = self.0.get(pattern) {
            return known.clone();
        }
        let compiled = Regex::new(pattern).ok();
        self.0.insert(pattern.to_owned(), compiled.clone());
        compiled
    }
}

/// The bounds and patterns of a string.
struct Demands {
    min: usize,
    max: usize,
    patterns: Vec<(String, Regex)>,
}

/// What it costs to build one.
pub(crate) fn price(shape: &Shape<'_>) -> u64 {
    let patterns = shape.all("pattern").count() as u64;
    let min = shape.all("minLength").filter_map(natural).max();
    let min = min.unwrap_or_default().min(LONGEST);
    1 + min / 64 + patterns * (16 + min / 8)
}

/// A string.
pub(crate) fn text(shape: &Shape<'_>, known: &mut Patterns) -> Result<Value, Reason> {
    let demands = demands(shape, known)?;
    let formats: Vec<&str> = shape
        .all("format")
        .filter_map(Value::as_str)
        .filter(|format| format::is_known(format))
        .collect();
    let plain = [
        String::new(),
        "a".repeat(demands.min),
        "0".repeat(demands.min),
    ];
    let formatted = formats
        .first()
        .and_then(|format| format::sample(format, demands.min));
    let made: Vec<String> = if formats.is_empty() {
        let matching = demands
            .patterns
            .iter()
            .flat_map(|(pattern, _)| pattern::samples(pattern, demands.min));
        plain.into_iter().chain(matching).collect()
    } else {
        formatted.into_iter().collect()
    };
    let found = made.into_iter().find(|text| demands.met_by(text));
    found
        .map(Value::String)
        .ok_or_else(|| Reason::new(refusal(&demands, &formats)))
}

fn demands(shape: &Shape<'_>, known: &mut Patterns) -> Result<Demands, Reason> {
    let min = shape.all("minLength").filter_map(natural).max();
    let max = shape.all("maxLength").filter_map(natural).min();
    let min = min.unwrap_or_default();
    if min > LONGEST {
        return Err(Reason::new(format!(
            "a string of {min} characters is more than the {LONGEST} that are made up"
        )));
    }
    let mut patterns = Vec::new();
    for pattern in shape.all("pattern").filter_map(Value::as_str) {
        let Some(regex) = known.get(pattern) else {
            return Err(Reason::new(format!(
                "pattern `{pattern}` is not understood"
            )));
        };
        patterns.push((pattern.to_owned(), regex));
    }
    Ok(Demands {
        min: usize::try_from(min).unwrap_or(usize::MAX),
        max: max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX)),
        patterns,
    })
}

impl Demands {
    fn met_by(&self, text: &str) -> bool {
        let length = text.chars().count();
        (self.min..=self.max).contains(&length)
            && self.patterns.iter().all(|(_, regex)| regex.is_match(text))
    }
}

fn refusal(demands: &Demands, formats: &[&str]) -> String {
    let mut told: Vec<String> = formats.iter().map(|f| format!("format `{f}`")).collect();
    told.extend(
        demands
            .patterns
            .iter()
            .map(|(p, _)| format!("pattern `{p}`")),
    );
    if demands.min > 0 || demands.max < usize::MAX {
        told.push("its length".into());
    }
    format!("no string was found that meets {}", told.join(" and "))
}

/// A count in a schema; whole floats such as `1.0` are counts.
pub(crate) fn natural(value: &Value) -> Option<u64> {
    let whole = value.as_u64();
    whole.or_else(|| u64::try_from(super::number::exact_i64(value.as_f64()?)?).ok())
}
