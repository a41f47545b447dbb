//! Looks for a zero value: one schema of each choice after the other, until the whole is met.

use std::collections::HashMap;

use serde_json::Value;

use super::budget::{Budget, weight};
use super::number;
use super::shape::{Shape, Tag};
use super::text::{self, Patterns};
use super::types::Type;
use crate::contract::Document;
use crate::reason::Reason;
use crate::schema::{Cost, Judge};

/// The most values of an `enum` that are tried.
const LISTED: usize = 1_000;
/// The deepest value.
const DEEPEST: usize = 48;

/// The search over one document.
pub(crate) struct Search<'d> {
    pub(super) document: &'d Document,
    judge: Judge<'d>,
    pub(super) budget: Budget,
    patterns: Patterns,
    known: HashMap<Vec<usize>, Value>,
    /// What is being built right now, outermost first.
    active: Vec<Vec<usize>>,
}

/// One way through the choices of a list of schemas.
pub(super) struct Way<'a, 'd> {
    /// The schemas as they were asked for, which the value must meet.
    asked: &'a [&'d Value],
    /// These and the branches taken so far.
    list: Vec<&'d Value>,
    /// Choices that are settled.
    settled: Vec<usize>,
    tags: Vec<Tag>,
    /// Builds more than must be there, where the least is ambiguous.
    pub(super) rich: bool,
}

impl<'d> Search<'d> {
    /// A search that knows nothing yet.
    pub(crate) fn new(document: &'d Document) -> Self {
        Self {
            document,
            judge: Judge::new(document),
            budget: Budget::new(),
            patterns: Patterns::default(),
            known: HashMap::new(),
            active: Vec::new(),
        }
    }

    /// The zero value of a schema, checked by the validator.
    pub(crate) fn zero(&mut self, schema: &'d Value) -> Result<Value, Reason> {
        self.budget.begin();
        let list = [schema];
        let value = self.value(&list)?;
        self.check(&list, &value)?;
        Ok(value)
    }

    /// True if a value meets a schema.
    pub(crate) fn meets(&mut self, schema: &'d Value, value: &Value) -> bool {
        self.budget.begin();
        self.check(&[schema], value).is_ok()
    }

    /// Asks the validator, unless it would take too long to answer.
    pub(super) fn check(&mut self, list: &[&'d Value], value: &Value) -> Result<(), Reason> {
        self.budget.charge(Cost::of(self.document, list, value))?;
        self.judge.check(list, value)
    }

    /// The demands of a list of schemas, paid for.
    pub(super) fn shape(&mut self, list: &[&'d Value]) -> Result<Shape<'d>, Reason> {
        let shape = Shape::of(self.document, list)?;
        self.budget.charge(1 + shape.parts.len() as u64)?;
        Ok(shape)
    }

    /// A value that meets a list of schemas.
    pub(super) fn value(&mut self, list: &[&'d Value]) -> Result<Value, Reason> {
        let shape = self.shape(list)?;
        if let Some(known) = self.known.get(&shape.key) {
            self.budget.charge(weight(known))?;
            return Ok(known.clone());
        }
        if self.active.contains(&shape.key) {
            let may_be_null = shape.types.holds(Type::Null);
            if may_be_null && self.check(list, &Value::Null).is_ok() {
                return Ok(Value::Null);
            }
            return Err(Reason::new(
                "its schema requires a value of itself without end",
            ));
        }
        if self.active.len() >= DEEPEST {
            return Err(Reason::new(format!("it is nested deeper than {DEEPEST}")));
        }
        self.active.push(shape.key.clone());
        let found = self.search(list, &shape);
        self.active.pop();
        let value = found?;
        self.budget.charge(weight(&value))?;
        self.known.insert(shape.key, value.clone());
        Ok(value)
    }

    fn search(&mut self, asked: &[&'d Value], shape: &Shape<'d>) -> Result<Value, Reason> {
        let mut refusal = None;
        let ways: &[bool] = if shape.is_intricate() {
            &[false, true]
        } else {
            &[false]
        };
        for rich in ways {
            let mut way = Way {
                asked,
                list: asked.to_vec(),
                settled: Vec::new(),
                tags: Vec::new(),
                rich: *rich,
            };
            match self.choose(&mut way) {
                Ok(value) => return Ok(value),
                Err(reason) if reason.spent => return Err(reason),
                Err(reason) => refusal = refusal.or(Some(reason)),
            }
        }
        // What the contract itself gives as a value saves what no rule can build.
        let given = ["default", "example"]
            .into_iter()
            .flat_map(|key| shape.all(key).collect::<Vec<_>>());
        for value in given {
            if self.check(asked, value).is_ok() {
                return Ok(value.clone());
            }
        }
        Err(refusal.unwrap_or_else(|| Reason::new("nothing meets its schema")))
    }

    /// Settles the next choice, or builds when none is left.
    fn choose(&mut self, way: &mut Way<'_, 'd>) -> Result<Value, Reason> {
        let shape = self.shape(&way.list)?;
        let open = shape
            .choices
            .iter()
            .find(|choice| !way.settled.contains(&choice.key));
        let Some(choice) = open else {
            return self.build(&shape, way);
        };
        let mut refusal = None;
        way.settled.push(choice.key);
        for branch in &choice.branches {
            let tags = way.tags.len();
            way.tags.extend(branch.tag.clone());
            way.list.push(branch.node);
            let found = self.choose(way);
            way.list.pop();
            way.tags.truncate(tags);
            match found {
                Ok(value) => return Ok(value),
                Err(reason) if reason.spent => return Err(reason),
                Err(reason) => refusal = refusal.or(Some(reason)),
            }
        }
        way.settled.pop();
        Err(refusal.unwrap_or_else(|| Reason::new("no branch of its schema can be met")))
    }

    /// Builds by type, the first type that works.
    fn build(&mut self, shape: &Shape<'d>, way: &Way<'_, 'd>) -> Result<Value, Reason> {
        let mut refusal = None;
        if let Some(value) = self.listed(shape, way) {
            return value;
        }
        for one in shape.types.in_order(shape.hint) {
            match self.of_type(one, shape, way) {
                Ok(value) => match self.settle(value, shape, way) {
                    Ok(value) => return Ok(value),
                    Err(reason) => refusal = refusal.or(Some(reason)),
                },
                Err(reason) if reason.spent => return Err(reason),
                Err(reason) => refusal = refusal.or(Some(reason)),
            }
        }
        Err(refusal.unwrap_or_else(|| Reason::new("its schemas agree on no type")))
    }

    /// The first value of `enum` that meets the rest; null only if there is no other.
    fn listed(&mut self, shape: &Shape<'d>, way: &Way<'_, 'd>) -> Option<Result<Value, Reason>> {
        let values = shape.all("enum").next()?.as_array()?;
        let (nulls, others): (Vec<_>, Vec<_>) = values.iter().partition(|value| value.is_null());
        let fitting = others
            .into_iter()
            .chain(nulls)
            .filter(|value| shape.types.fit(value))
            .take(LISTED);
        for value in fitting {
            let met = self.check(&way.list, value).is_ok() && self.check(way.asked, value).is_ok();
            if met {
                return Some(Ok(value.clone()));
            }
        }
        Some(Err(Reason::new("no value of its `enum` meets its schema")))
    }

    fn of_type(
        &mut self,
        one: Type,
        shape: &Shape<'d>,
        way: &Way<'_, 'd>,
    ) -> Result<Value, Reason> {
        match one {
            Type::Object => self.object(shape, way.rich),
            Type::Array => self.array(shape, way.rich),
            Type::String => {
                self.budget.charge(text::price(shape))?;
                text::text(shape, &mut self.patterns)
            }
            Type::Integer => number::integer(shape),
            Type::Number if way.rich => number::fraction(shape),
            Type::Number => number::number(shape),
            Type::Boolean => Ok(Value::Bool(false)),
            Type::Null => Ok(Value::Null),
        }
    }

    /// Puts the tags in and asks the validator where building alone may miss a demand.
    fn settle(
        &mut self,
        value: Value,
        shape: &Shape<'d>,
        way: &Way<'_, 'd>,
    ) -> Result<Value, Reason> {
        if !shape.is_intricate() {
            return Ok(value);
        }
        if let Some(tagged) = tagged(&value, shape, &way.tags)
            && self.check(way.asked, &tagged).is_ok()
        {
            return Ok(tagged);
        }
        let flipped = (value == Value::Bool(false)).then_some(Value::Bool(true));
        let verdict = self.check(way.asked, &value);
        match (verdict, flipped) {
            (Ok(()), _) => Ok(value),
            (Err(_), Some(other)) if self.check(way.asked, &other).is_ok() => Ok(other),
            (Err(reason), _) => Err(reason),
        }
    }
}

/// The object with its discriminating properties set, if it has any.
fn tagged(value: &Value, shape: &Shape<'_>, chosen: &[Tag]) -> Option<Value> {
    let mut object = value.as_object()?.clone();
    let mut changed = false;
    // What was chosen is more exact than what is inherited, so it comes last.
    for (property, tag) in shape.tags.iter().chain(chosen) {
        let declared = shape.members.iter().any(|members| {
            members
                .declared
                .is_some_and(|declared| declared.contains_key(property))
        });
        if declared || shape.required.contains(&property.as_str()) {
            object.insert(property.clone(), Value::String(tag.clone()));
            changed = true;
        }
    }
    changed.then_some(Value::Object(object))
}
