//! Calls from the templates of the table.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::arn::Parts;
use super::row::{Ask, Service, Wire};
use crate::aws::paginate::Paging;
use crate::aws::protocol::{ApiCall, Body, escape, list};

/// What placeholders stand for.
#[derive(Debug, Clone, Copy)]
pub struct Filling<'f> {
    /// `{name}`: the parts of one object.
    pub parts: &'f Parts,
    /// `{name*}` in a list: those of all objects that the call is about.
    pub all: &'f [&'f Parts],
    /// `{.path}`: an item of a listing, or what is kept of the object.
    pub item: Option<&'f Value>,
}

impl<'f> Filling<'f> {
    /// The filling of a call about one object.
    pub fn of(parts: &'f Parts) -> Self {
        Self {
            parts,
            all: &[],
            item: None,
        }
    }

    /// The same with an item.
    #[must_use]
    pub fn item(self, item: &'f Value) -> Self {
        Self {
            item: Some(item),
            ..self
        }
    }

    fn value(&self, name: &str) -> String {
        if let Some(path) = name.strip_prefix('.') {
            return self
                .item
                .and_then(|item| at(item, path))
                .unwrap_or_default();
        }
        let part = |name: &str| self.parts.get(name).cloned().unwrap_or_default();
        match name.strip_suffix('/') {
            Some(name) => part(name).trim_end_matches('/').to_owned(),
            None => part(name),
        }
    }
}

/// The first scalar at a path, as text.
fn at(item: &Value, path: &str) -> Option<String> {
    let found = list(item, path).into_iter().next()?;
    match found {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(found.to_string()),
        _ => None,
    }
}

/// The call of a row's service from a template. `name` is the placeholder that a filter takes.
pub fn call_of(
    service: &str,
    wire: &Service,
    ask: &Ask,
    name: &str,
    filling: Filling<'_>,
) -> ApiCall {
    let spelt = ask.call.as_deref().unwrap_or_default();
    let mut words = spelt.splitn(3, ' ');
    let operation = words.next().unwrap_or_default();
    let method = words.next().unwrap_or("POST");
    let path = words.next().unwrap_or("/");
    let mut input = filled(&ask.input, filling);
    if let Some(filter) = &ask.filter {
        let one = filling.value(name);
        let many = filling
            .all
            .iter()
            .filter_map(|parts| parts.get(name).cloned());
        let mut values: Vec<String> = many.collect();
        if values.is_empty() {
            values.push(one);
        }
        input = json!({"Filter": [{"Name": filter, "Value": values}]});
    }
    let input = input;
    match wire.protocol {
        Wire::Ec2 => nested(ApiCall::ec2(operation), &input),
        Wire::Query => nested(ApiCall::query(service, &wire.version, operation), &input),
        Wire::Json10 => ApiCall::json10(service, &wire.target, operation, object(input)),
        Wire::Json11 => ApiCall::json(service, &wire.target, operation, object(input)),
        Wire::RestJson | Wire::RestXml => {
            let (path, flag) = path
                .split_once('?')
                .map_or((path, None), |(path, flag)| (path, Some(flag)));
            let path = written(path, filling, true);
            let mut call = match wire.protocol {
                Wire::RestJson => ApiCall::rest_json(service, operation, method, &path),
                _ => ApiCall::rest_xml(service, operation, method, &path),
            };
            call.bucket = ask
                .bucket
                .as_deref()
                .map(|bucket| written(bucket, filling, false));
            if let Some(flag) = flag {
                call = call.param(flag, "");
            }
            call = queried(call, &ask.query, filling);
            if input.is_null() {
                call
            } else {
                call.body(Body::Json(input))
            }
        }
    }
}

/// How a listing of the service goes on: `input`, `input < output`, with ` while flag` after it.
pub fn paging(spelt: &str) -> Paging {
    let (tokens, flag) = match spelt.split_once(" while ") {
        Some((tokens, flag)) => (tokens, Some(flag)),
        None => (spelt, None),
    };
    let (input, output) = tokens.split_once(" < ").unwrap_or((tokens, tokens));
    let paging = Paging::token(input.trim(), output.trim());
    match flag {
        Some(flag) => paging.while_true(flag.trim()),
        None => paging,
    }
}

fn queried(mut call: ApiCall, query: &BTreeMap<String, String>, filling: Filling<'_>) -> ApiCall {
    for (name, value) in query {
        call = call.param(name, written(value, filling, false));
    }
    call
}

fn object(input: Value) -> Value {
    if input.is_null() { json!({}) } else { input }
}

fn nested(call: ApiCall, input: &Value) -> ApiCall {
    let fields = input.as_object().into_iter().flatten();
    fields.fold(call, |call, (name, value)| call.nested(name, value))
}

/// A template with its placeholders filled. A field that one leaves empty is left out; a list of one
/// placeholder with a star has a value for each object.
fn filled(template: &Value, filling: Filling<'_>) -> Value {
    match template {
        Value::Object(fields) => {
            let filled = fields
                .iter()
                .map(|(name, value)| (name.clone(), filled(value, filling)));
            let kept: Map<String, Value> = filled.filter(|(_, value)| !value.is_null()).collect();
            Value::Object(kept)
        }
        Value::Array(items) => items
            .iter()
            .flat_map(|item| element(item, filling))
            .collect(),
        Value::String(text) => {
            let text = written(text, filling, false);
            if text.is_empty() {
                Value::Null
            } else {
                Value::String(text)
            }
        }
        other => other.clone(),
    }
}

fn element(item: &Value, filling: Filling<'_>) -> Vec<Value> {
    let starred = item
        .as_str()
        .and_then(|text| text.strip_prefix('{')?.strip_suffix("*}"));
    let Some(name) = starred else {
        return vec![filled(item, filling)];
    };
    let alone = [filling.parts];
    let all = if filling.all.is_empty() {
        &alone[..]
    } else {
        filling.all
    };
    let values = all.iter().filter_map(|parts| parts.get(name).cloned());
    values.map(Value::String).collect()
}

/// A text with its placeholders filled; in a path each value is escaped.
fn written(template: &str, filling: Filling<'_>, path: bool) -> String {
    let mut text = String::new();
    let mut left = template;
    while let Some((before, rest)) = left.split_once('{') {
        let Some((name, after)) = rest.split_once('}') else {
            break;
        };
        text.push_str(before);
        let value = filling.value(name);
        text.push_str(&if path { escape(&value) } else { value });
        left = after;
    }
    text.push_str(left);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::protocol::Protocol;

    fn parts(pairs: &[(&str, &str)]) -> Parts {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn wire(protocol: Wire) -> Service {
        Service {
            protocol,
            version: "2010".into(),
            target: "T".into(),
            page: None,
            permission: None,
            partial: false,
        }
    }

    #[test]
    fn a_list_with_a_star_holds_each_object() {
        let (one, two) = (parts(&[("id", "i-1")]), parts(&[("id", "i-2")]));
        let all = [&one, &two];
        let filling = Filling {
            parts: &one,
            all: &all,
            item: None,
        };
        let ask = Ask {
            call: Some("Describe".into()),
            filter: Some("instance-id".into()),
            ..Ask::default()
        };
        let call = call_of("ec2", &wire(Wire::Ec2), &ask, "id", filling);
        let spelt: Vec<String> = call
            .params
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            spelt,
            [
                "Filter.1.Name=instance-id",
                "Filter.1.Value.1=i-1",
                "Filter.1.Value.2=i-2"
            ]
        );
        let input = json!({"names": ["{id*}"], "fixed": 1});
        assert_eq!(
            filled(&input, filling),
            json!({"names": ["i-1", "i-2"], "fixed": 1})
        );
    }

    #[test]
    fn what_stays_empty_is_left_out() {
        let rule = parts(&[("name", "r"), ("bus", "")]);
        let input = json!({"Name": "{name}", "EventBusName": "{bus/}"});
        assert_eq!(filled(&input, Filling::of(&rule)), json!({"Name": "r"}));
        let rule = parts(&[("name", "r"), ("bus", "own/")]);
        assert_eq!(
            filled(&input, Filling::of(&rule)),
            json!({"Name": "r", "EventBusName": "own"})
        );
    }

    #[test]
    fn paths_are_escaped_and_flags_become_queries() {
        let parts = parts(&[("arn", "arn:aws:x/y"), ("name", "n")]);
        let ask = Ask {
            call: Some("GetTags GET /tags/{arn}?tagging".into()),
            query: BTreeMap::from([("q".into(), "{name}".into())]),
            ..Ask::default()
        };
        let call = call_of(
            "backup",
            &wire(Wire::RestJson),
            &ask,
            "name",
            Filling::of(&parts),
        );
        assert_eq!(call.path, "/tags/arn%3Aaws%3Ax%2Fy");
        assert_eq!(
            call.params,
            [("tagging".into(), String::new()), ("q".into(), "n".into())]
        );
        assert_eq!(
            (call.method.as_str(), call.protocol),
            ("GET", Protocol::RestJson)
        );
    }

    #[test]
    fn pages_are_read_off_their_spelling() {
        let pages = paging("Marker < List.NextMarker while List.IsTruncated");
        assert_eq!(
            pages.tokens,
            [("Marker".to_owned(), "List.NextMarker".to_owned())]
        );
        assert_eq!(pages.more.as_deref(), Some("List.IsTruncated"));
        assert_eq!(paging("NextToken"), Paging::token("NextToken", "NextToken"));
    }
}
