//! Objects with the properties that must be there, arrays with the items that must be there.

use serde_json::{Map, Value, json};

use super::budget::weight;
use super::search::Search;
use super::shape::Shape;
use super::text::natural;
use crate::reason::Reason;

/// The most items or properties that are ever made up.
const MOST: u64 = 1_000;
/// How many values are tried for each that must differ; steps such as `multipleOf: 10` leave few.
const VARIANTS: usize = 32;

impl<'d> Search<'d> {
    /// An object; `rich` adds what is declared but not required.
    pub(super) fn object(&mut self, shape: &Shape<'d>, rich: bool) -> Result<Value, Reason> {
        let mut object = Map::new();
        for name in in_declared_order(shape) {
            let value = self.property(shape, name);
            object.insert(
                name.to_owned(),
                value.map_err(|reason| reason.within(name))?,
            );
        }
        let least = count(shape, "minProperties")?;
        let optional = declared(shape).filter(|name| !shape.required.contains(name));
        for name in optional.collect::<Vec<_>>() {
            if !rich && object.len() >= least {
                break;
            }
            if object.contains_key(name) {
                continue;
            }
            match self.property(shape, name) {
                Ok(value) => drop(object.insert(name.to_owned(), value)),
                Err(reason) if reason.spent => return Err(reason),
                Err(_) => {}
            }
        }
        for number in 1.. {
            if object.len() >= least {
                break;
            }
            let name = format!("property{number}");
            let value = self.property(shape, &name)?;
            object.insert(name, value);
        }
        let most = shape.all("maxProperties").filter_map(natural).min();
        if most.is_some_and(|most| object.len() as u64 > most) {
            return Err(Reason::new("it requires more properties than it allows"));
        }
        Ok(Value::Object(object))
    }

    /// The value of a property, which every schema of the object has a say in.
    fn property(&mut self, shape: &Shape<'d>, name: &str) -> Result<Value, Reason> {
        let mut list = Vec::new();
        for members in &shape.members {
            match (
                members.declared.and_then(|declared| declared.get(name)),
                members.additional,
            ) {
                (Some(own), _) => list.push(own),
                (None, Some(Value::Bool(false))) => {
                    return Err(Reason::new(format!(
                        "property `{name}` is required and not allowed"
                    )));
                }
                (None, Some(other)) if other.is_object() => list.push(other),
                (None, _) => {}
            }
        }
        if list.is_empty() {
            return Ok(json!({}));
        }
        self.value(&list)
    }

    /// An array; `rich` puts one item into it.
    pub(super) fn array(&mut self, shape: &Shape<'d>, rich: bool) -> Result<Value, Reason> {
        let least = count(shape, "minItems")?;
        let most = shape.all("maxItems").filter_map(natural).min();
        if most.is_some_and(|most| least as u64 > most) {
            return Err(Reason::new("it requires more items than it allows"));
        }
        let room = most.is_none_or(|most| most > 0);
        let wanted = least.max(usize::from(rich && room));
        if wanted == 0 {
            return Ok(json!([]));
        }
        let list: Vec<&'d Value> = shape.all("items").collect();
        let unique = shape.all("uniqueItems").any(|unique| *unique == true);
        let first = if list.is_empty() {
            json!({})
        } else {
            self.value(&list).map_err(|reason| reason.within("0"))?
        };
        if !unique || wanted == 1 {
            let size = weight(&first).saturating_mul(wanted as u64);
            self.budget.charge(size)?;
            return Ok(Value::Array(vec![first; wanted]));
        }
        self.distinct(&list, &first, wanted)
    }

    /// Items that differ, made by changing the first.
    fn distinct(
        &mut self,
        list: &[&'d Value],
        first: &Value,
        wanted: usize,
    ) -> Result<Value, Reason> {
        let mut items = vec![first.clone()];
        let listed = self.shape(list)?;
        let listed = listed.all("enum").filter_map(Value::as_array).flatten();
        let most = wanted.saturating_mul(VARIANTS);
        self.budget
            .charge(weight(first).saturating_mul(most as u64 / 8))?;
        let others = listed.take(most).cloned().chain(variants(first, most));
        for item in others.collect::<Vec<_>>() {
            if items.len() == wanted {
                break;
            }
            if !items.contains(&item) && self.check(list, &item).is_ok() {
                items.push(item);
            }
        }
        if items.len() < wanted {
            return Err(Reason::new(format!(
                "it needs {wanted} items that differ, and only {} were found",
                items.len()
            )));
        }
        Ok(Value::Array(items))
    }
}

/// Values like the given one, at most so many; some of them will do.
fn variants(value: &Value, most: usize) -> Vec<Value> {
    let numbers = 1..=(most as u64 / 2).max(1);
    match value {
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(n) => {
            let base = n.as_i64().unwrap_or_default();
            let signed = numbers.filter_map(|i| i64::try_from(i).ok());
            signed
                .flat_map(|i| [base.saturating_add(i), base.saturating_sub(i)])
                .map(Value::from)
                .collect()
        }
        Value::String(text) => numbers
            .flat_map(|i| [format!("{text}{i}"), replaced_end(text, i)])
            .map(Value::String)
            .collect(),
        Value::Object(object) => {
            let mut found = Vec::new();
            let share = most / object.len().max(1);
            for (name, inner) in object {
                for other in variants(inner, share) {
                    let mut object = object.clone();
                    object.insert(name.clone(), other);
                    found.push(Value::Object(object));
                }
            }
            if found.is_empty() {
                found.extend((1..most).map(|i| json!({ format!("property{i}"): {} })));
            }
            found
        }
        Value::Array(_) | Value::Null => Vec::new(),
    }
}

/// The text with its end overwritten by a number.
fn replaced_end(text: &str, number: u64) -> String {
    let end = number.to_string();
    let kept = text.chars().count().saturating_sub(end.len());
    text.chars().take(kept).chain(end.chars()).collect()
}

/// The required names: declared ones in their order, then the others.
fn in_declared_order<'d>(shape: &Shape<'d>) -> Vec<&'d str> {
    let mut names: Vec<&'d str> = declared(shape)
        .filter(|name| shape.required.contains(name))
        .collect();
    names.extend(shape.required.iter());
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

fn declared<'s, 'd>(shape: &'s Shape<'d>) -> impl Iterator<Item = &'d str> + 's {
    let maps = shape.members.iter().filter_map(|members| members.declared);
    maps.flat_map(|map| map.keys().map(String::as_str))
}

/// A lower bound of a count.
fn count(shape: &Shape<'_>, key: &str) -> Result<usize, Reason> {
    let least = shape.all(key).filter_map(natural).max().unwrap_or_default();
    if least > MOST {
        return Err(Reason::new(format!(
            "`{key}` of {least} is more than the {MOST} that are made up"
        )));
    }
    Ok(usize::try_from(least).unwrap_or(usize::MAX))
}
