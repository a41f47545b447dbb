//! What an answer shows of the objects in it.

use std::collections::BTreeMap;

use cp9_model::reaper::{Found, Key, Life, Maker};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::arn::Parts;
use super::row::{Mark, Row, TagSource};
use super::table::{Place, Table, Type};
use crate::aws::protocol::list;

/// Values that mean yes where a row names none.
const YES: [&str; 5] = ["true", "True", "enabled", "ENABLED", "ACTIVE"];
/// Later numbers are milliseconds.
const MILLIS: f64 = 1e11;

/// An object as an answer shows it, with the parts that calls about it are filled with.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The object. Its tags are none where the answer has no place for them.
    pub found: Found,
    /// Its parts.
    pub parts: Parts,
}

/// The items of an answer; the answer itself where no path leads to them.
pub fn items<'v>(body: &'v Value, path: &str) -> Vec<&'v Value> {
    if path.is_empty() {
        return vec![body];
    }
    list(body, path)
}

/// The object of an item. `asked` are the parts of the one object that was asked for, when it was one.
/// None when the item does not say which it is.
pub fn show(
    table: &Table,
    one: &Type,
    item: &Value,
    place: &Place,
    asked: Option<&Parts>,
) -> Option<Shown> {
    let parts = parts_of(one, &one.row.describe.key, item, place, asked)?;
    let key = one.key(&parts, &place.region)?;
    let row = &one.row;
    let others = row.uses.iter().flat_map(|(kind, paths)| {
        let named = paths.iter().flat_map(|path| scalars(item, path));
        named.filter_map(|named| table.other(kind, &named, place))
    });
    let mut uses: Vec<Key> = others.filter(|other| *other != key).collect();
    uses.sort();
    uses.dedup();
    let found = Found {
        arn: parts.get("arn").cloned(),
        name: name_of(row, item, &parts),
        created: row
            .is
            .created
            .as_ref()
            .and_then(|path| time(list(item, path).first()?)),
        tags: match &row.is.tags {
            Some(TagSource::At(path)) => Some(tags(&list(item, path))),
            _ => None,
        },
        life: life(row, item),
        inside: inside(table, row, item, &parts, place),
        uses,
        maker: maker(row, item),
        protection: protection(row, item),
        facts: facts(row, item),
        ..Found::new(key)
    };
    Some(Shown { found, parts })
}

/// The parts that an item's identity gives, the ARN among them.
pub(super) fn parts_of(
    one: &Type,
    key: &BTreeMap<String, String>,
    item: &Value,
    place: &Place,
    asked: Option<&Parts>,
) -> Option<Parts> {
    let mut parts = place.parts();
    if let Some(asked) = asked {
        parts.extend(asked.clone());
    }
    for (name, path) in key {
        let (path, cut) = path
            .split_once('|')
            .map_or((path.as_str(), None), |(path, cut)| (path, Some(cut)));
        let value = scalars(item, path).into_iter().next()?;
        let value = match cut {
            Some(cut) => value.rsplit(cut).next().unwrap_or_default().to_owned(),
            None => value,
        };
        if name == "arn" {
            // Some services add a star or an alias to what they are asked for.
            match one.arn.read(&value) {
                Some(read) => parts.extend(read),
                None if asked.is_some() => {}
                None => return None,
            }
        } else {
            parts.insert(name.clone(), value);
        }
    }
    let arn = one.arn.write(&parts)?;
    parts.insert("arn".into(), arn);
    Some(parts)
}

/// Texts, numbers and flags at a path, as text.
fn scalars(item: &Value, path: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    items(item, path).into_iter().filter_map(text).collect()
}

fn name_of(row: &Row, item: &Value, parts: &Parts) -> Option<String> {
    let said = row
        .is
        .name
        .as_ref()
        .and_then(|path| scalars(item, path).into_iter().next());
    let tagged = || match &row.is.tags {
        Some(TagSource::At(path)) => tags(&list(item, path)).remove("Name"),
        _ => None,
    };
    let name = said.or_else(tagged).or_else(|| parts.get("name").cloned());
    name.filter(|name| !name.is_empty())
}

fn life(row: &Row, item: &Value) -> Life {
    let Some(path) = &row.is.state else {
        return Life::Alive;
    };
    let states = scalars(item, path);
    let is = |known: &[String]| {
        let any = known.iter().any(|known| known == "*") && !states.is_empty();
        any || states.iter().any(|state| known.contains(state))
    };
    if is(&row.is.terminal) {
        Life::Terminal
    } else if is(&row.is.ending) {
        Life::Ending
    } else {
        Life::Alive
    }
}

fn inside(table: &Table, row: &Row, item: &Value, parts: &Parts, place: &Place) -> Option<Key> {
    let container = row.inside.as_ref()?;
    let at = container
        .at
        .as_ref()
        .and_then(|path| scalars(item, path).into_iter().next());
    let named = at.or_else(|| parts.get(container.named.as_ref()?).cloned())?;
    table.other(&container.kind, &named, place)
}

/// True when the item shows the mark.
pub(super) fn marked(mark: &Mark, item: &Value) -> bool {
    let mut values = if mark.at.is_empty() {
        vec!["true".to_owned()]
    } else {
        scalars(item, &mark.at)
    }
    .into_iter();
    let means = |value: &String| match (&mark.starts, mark.is.as_slice()) {
        (Some(start), _) => value.starts_with(start.as_str()),
        (None, []) => YES.contains(&value.as_str()),
        (None, [any]) if any == "*" => true,
        (None, known) => known.contains(value),
    };
    values.any(|value| means(&value))
}

fn maker(row: &Row, item: &Value) -> Maker {
    if row.default.as_ref().is_some_and(|mark| marked(mark, item)) {
        return Maker::Default;
    }
    let Some(mark) = row.made.iter().find(|mark| marked(mark, item)) else {
        return Maker::Person;
    };
    let who = mark
        .who
        .as_ref()
        .and_then(|path| scalars(item, path).into_iter().next());
    Maker::Cloud {
        by: who.unwrap_or_else(|| mark.what.clone()),
    }
}

fn protection(row: &Row, item: &Value) -> Option<String> {
    let mark = row.protected.as_ref()?;
    marked(mark, item).then(|| mark.what.clone())
}

/// What the templates of the row's deletion take from the item, and nothing else of it.
fn facts(row: &Row, item: &Value) -> Option<Value> {
    let steps = row.delete.iter().filter(|step| step.list.is_none());
    let mut names = Vec::new();
    for step in steps {
        names_in(&step.input, &mut names);
        step.query
            .values()
            .for_each(|text| names_of(text, &mut names));
    }
    if let Some(TagSource::Asked(ask)) = &row.is.tags {
        names_in(&ask.input, &mut names);
    }
    let kept = names.into_iter().filter_map(|name| {
        let value = list(item, &name).into_iter().next()?.clone();
        Some((name, value))
    });
    let kept: Map<String, Value> = kept.collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

fn names_in(template: &Value, names: &mut Vec<String>) {
    match template {
        Value::Object(fields) => fields.values().for_each(|value| names_in(value, names)),
        Value::Array(values) => values.iter().for_each(|value| names_in(value, names)),
        Value::String(text) => names_of(text, names),
        _ => {}
    }
}

fn names_of(template: &str, names: &mut Vec<String>) {
    let inside = template
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next());
    names.extend(
        inside
            .filter_map(|name| name.strip_prefix('.'))
            .map(str::to_owned),
    );
}

/// Tags in any of their shapes: pairs of key and value, spelt in three ways, or fields of an object.
pub fn tags(values: &[&Value]) -> BTreeMap<String, String> {
    let mut tags = BTreeMap::new();
    for value in values {
        let Value::Object(fields) = value else {
            continue;
        };
        let first = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| fields.get(*name))
                .and_then(Value::as_str)
        };
        let named = first(&["Key", "key", "TagKey"]);
        if let Some(key) = named.filter(|_| fields.keys().all(|name| is_pair(name))) {
            let value = first(&["Value", "value", "TagValue"]).unwrap_or_default();
            tags.insert(key.to_owned(), value.to_owned());
            continue;
        }
        let texts = fields
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        tags.extend(texts);
    }
    tags
}

/// The fields of a tag that is a pair; groups of machines add where it applies.
fn is_pair(field: &str) -> bool {
    let known = [
        "Key",
        "key",
        "TagKey",
        "Value",
        "value",
        "TagValue",
        "ResourceId",
        "ResourceType",
        "PropagateAtLaunch",
    ];
    known.contains(&field)
}

/// A time in any of its shapes: text, seconds, milliseconds.
fn time(value: &Value) -> Option<Timestamp> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    if let Some(number) = number {
        let seconds = if number > MILLIS {
            number / 1000.0
        } else {
            number
        };
        return Timestamp::from_second(format!("{seconds:.0}").parse().ok()?).ok();
    }
    let text = value.as_str()?;
    // Lambda writes `+0000` where the standard has a colon.
    let mended = text.replace("+0000", "Z");
    mended.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_are_read_in_every_shape() {
        let want = BTreeMap::from([
            ("a".to_owned(), "1".to_owned()),
            ("b".to_owned(), String::new()),
        ]);
        for shape in [
            json!([{"Key": "a", "Value": "1"}, {"Key": "b"}]),
            json!([{"key": "a", "value": "1"}, {"key": "b", "value": ""}]),
            json!([{"TagKey": "a", "TagValue": "1"}, {"TagKey": "b", "TagValue": ""}]),
            json!({"a": "1", "b": ""}),
            json!([{"Key": "a", "Value": "1", "ResourceId": "g", "PropagateAtLaunch": "true"}, {"Key": "b"}]),
        ] {
            let item = json!({ "t": shape });
            assert_eq!(tags(&list(&item, "t")), want, "{item}");
        }
        // A field of an object that happens to have the name of a pair's part.
        let odd = json!({"t": {"Key": "x", "cp9-owner": "ann"}});
        assert_eq!(
            tags(&list(&odd, "t")).get("cp9-owner").map(String::as_str),
            Some("ann")
        );
        assert!(tags(&[]).is_empty());
    }

    #[test]
    fn times_are_read_in_every_shape() {
        let want: Timestamp = "2026-12-01T10:00:00Z".parse().unwrap();
        for shape in [
            json!("2026-12-01T10:00:00.000Z"),
            json!("2026-12-01T10:00:00+00:00"),
            json!("2026-12-01T10:00:00.000+0000"),
            json!(1_796_119_200),
            json!(1_796_119_200.25),
            json!(1_796_119_200_000_u64),
            json!("1796119200"),
        ] {
            assert_eq!(time(&shape), Some(want), "{shape}");
        }
        assert_eq!(time(&json!("yesterday")), None);
    }

    #[test]
    fn marks_are_told_from_their_absence() {
        let mark = |is: &[&str], starts: Option<&str>| Mark {
            at: "at".into(),
            is: is.iter().map(|one| (*one).to_owned()).collect(),
            starts: starts.map(str::to_owned),
            what: String::new(),
            who: None,
        };
        assert!(marked(&mark(&[], None), &json!({"at": "true"})));
        assert!(marked(&mark(&[], None), &json!({"at": true})));
        assert!(!marked(&mark(&[], None), &json!({"at": "false"})));
        assert!(!marked(&mark(&[], None), &json!({})));
        assert!(marked(&mark(&["*"], None), &json!({"at": "any"})));
        assert!(!marked(&mark(&["*"], None), &json!({"at": ""})));
        assert!(marked(&mark(&["a", "b"], None), &json!({"at": ["c", "b"]})));
        assert!(marked(
            &mark(&[], Some("ELB ")),
            &json!({"at": "ELB app/x"})
        ));
        assert!(!marked(&mark(&[], Some("ELB ")), &json!({"at": "my ELB"})));
    }
}
