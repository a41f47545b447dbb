//! From the validator's tree of errors to a flat list, without the noise of alternatives.

use boon::{ErrorKind, Type, ValidationError};
use serde_json::Value;

use super::super::check::child;

/// One thing that the schema refuses.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    /// The value, or the mapping whose key it is about.
    pub(super) pointer: String,
    pub(super) kind: Kind,
    /// Where in the schema.
    pub(super) schema: String,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    UnknownKey(String),
    MissingKey(String),
    Type(Vec<Type>),
    Allowed(Vec<Value>),
    Minimum(String),
    Maximum(String),
    /// A pattern or length, for which pass 2 has a rule with better words.
    Form,
    Other(String),
}

impl Refusal {
    /// True for what pass 2 says in better words.
    pub(super) fn left_to_rules(&self) -> bool {
        self.kind == Kind::Form
    }
}

/// Every refusal in the tree.
pub(super) fn flatten(error: &ValidationError<'_, '_>, json: &Value) -> Vec<Refusal> {
    let mut found = Vec::new();
    walk(error, json, &mut found);
    found.dedup();
    found
}

fn walk(error: &ValidationError<'_, '_>, json: &Value, found: &mut Vec<Refusal>) {
    if matches!(error.kind, ErrorKind::AnyOf | ErrorKind::OneOf(_)) {
        alternatives(error, json, found);
    } else if error.causes.is_empty() {
        leaf(error, found);
    } else {
        for cause in &error.causes {
            walk(cause, json, found);
        }
    }
}

fn leaf(error: &ValidationError<'_, '_>, found: &mut Vec<Refusal>) {
    let kinds = match &error.kind {
        ErrorKind::AdditionalProperties { got } => got
            .iter()
            .map(|key| Kind::UnknownKey(key.to_string()))
            .collect(),
        ErrorKind::Required { want } => want
            .iter()
            .map(|key| Kind::MissingKey((*key).into()))
            .collect(),
        ErrorKind::Type { want, .. } => vec![Kind::Type(want.iter().collect())],
        ErrorKind::Enum { want } => vec![Kind::Allowed((*want).clone())],
        ErrorKind::Const { want } => vec![Kind::Allowed(vec![(*want).clone()])],
        ErrorKind::Minimum { want, .. } => vec![Kind::Minimum(want.to_string())],
        ErrorKind::Maximum { want, .. } => vec![Kind::Maximum(want.to_string())],
        ErrorKind::Pattern { .. } | ErrorKind::MinLength { .. } | ErrorKind::MaxLength { .. } => {
            vec![Kind::Form]
        }
        other => vec![Kind::Other(other.to_string())],
    };
    let pointer = error.instance_location.to_string();
    let schema = error.schema_url.to_owned();
    found.extend(kinds.into_iter().map(|kind| Refusal {
        pointer: pointer.clone(),
        kind,
        schema: schema.clone(),
    }));
}

/// Of alternatives: the one that got deepest; at equal depth their allowed values and types together.
fn alternatives(error: &ValidationError<'_, '_>, json: &Value, found: &mut Vec<Refusal>) {
    let here = error.instance_location.to_string();
    let mut branches: Vec<Vec<Refusal>> = Vec::new();
    for cause in &error.causes {
        let mut branch = Vec::new();
        walk(cause, json, &mut branch);
        branches.push(branch);
    }
    let is_null = json.pointer(&here).is_none_or(Value::is_null);
    let mistyped = |branch: &Vec<Refusal>| {
        branch
            .iter()
            .any(|r| r.pointer == here && matches!(r.kind, Kind::Type(_)))
    };
    let null_only = |branch: &Vec<Refusal>| {
        branch
            .iter()
            .all(|r| r.pointer == here && r.kind == Kind::Type(vec![Type::Null]))
    };
    if !is_null {
        branches.retain(|branch| !null_only(branch));
    }
    if branches.iter().any(|branch| !mistyped(branch)) {
        branches.retain(|branch| !mistyped(branch));
    }
    let shallow = |branch: &Vec<Refusal>| branch.iter().all(|refusal| refusal.pointer == here);
    if let Some(deep) = branches
        .iter()
        .filter(|branch| !shallow(branch))
        .max_by_key(|branch| depth(branch))
    {
        found.extend(deep.iter().cloned());
        return;
    }
    if branches.len() == 1 {
        found.extend(branches.remove(0));
        return;
    }
    found.push(together(here, error.schema_url, &branches));
}

fn depth(branch: &[Refusal]) -> usize {
    branch
        .iter()
        .map(|refusal| refusal.pointer.matches('/').count())
        .max()
        .unwrap_or(0)
}

fn together(pointer: String, schema: &str, branches: &[Vec<Refusal>]) -> Refusal {
    let all = || branches.iter().flatten().map(|refusal| &refusal.kind);
    let mut allowed = Vec::new();
    let mut types: Vec<Type> = Vec::new();
    for kind in all() {
        match kind {
            Kind::Allowed(values) => {
                allowed.extend(values.iter().filter(|v| !v.is_null()).cloned());
            }
            Kind::Type(wanted) => types.extend(wanted.iter().filter(|t| **t != Type::Null)),
            _ => {}
        }
    }
    types.dedup();
    let kind = match (allowed.is_empty(), types.is_empty()) {
        (false, _) => Kind::Allowed(allowed),
        (true, false) => Kind::Type(types),
        (true, true) => all()
            .next()
            .cloned()
            .unwrap_or_else(|| Kind::Other("no alternative fits".into())),
    };
    Refusal {
        pointer,
        kind,
        schema: schema.to_owned(),
    }
}

impl Refusal {
    /// The words of an enumeration, if the schema has one here.
    pub(super) fn allowed_words(&self, schema: &Value) -> Vec<Value> {
        let here = schema.pointer(self.fragment());
        let words = here
            .and_then(|here| here.get("oneOf"))
            .and_then(Value::as_array);
        words
            .into_iter()
            .flatten()
            .filter_map(|word| word.get("const").cloned())
            .collect()
    }

    fn fragment(&self) -> &str {
        self.schema
            .split_once('#')
            .map_or("", |(_, fragment)| fragment)
    }

    /// The keys that the mapping may hold, from the schema.
    pub(super) fn known_keys<'s>(&self, schema: &'s Value) -> Vec<&'s str> {
        let keys = schema
            .pointer(&child(self.fragment(), "properties"))
            .and_then(Value::as_object);
        keys.map(|keys| keys.keys().map(String::as_str).collect())
            .unwrap_or_default()
    }
}
