//! Everything that a list of schemas demands of one value, with references followed and `allOf`
//! laid out flat.

use serde_json::{Map, Value};

use super::types::{Type, Types};
use crate::contract::Document;
use crate::reason::Reason;
use crate::schema::{is_write_only, mapped_target, tag_of};

/// The most schema objects that one value is asked to meet.
const PARTS: usize = 512;
/// The longest chain of `allOf`.
const CHAIN: usize = 100;
/// The most choices that one value has to settle.
const CHOICES: usize = 64;
/// The most properties that one value is asked to have.
const REQUIRED: usize = 1_000;

/// A property that says which schema a value is of, and what it says.
pub(crate) type Tag = (String, String);

/// One way to go on.
#[derive(Debug, Clone)]
pub(crate) struct Branch<'d> {
    pub(crate) node: &'d Value,
    pub(crate) tag: Option<Tag>,
}

/// A place where one of several schemas must be taken.
#[derive(Debug, Clone)]
pub(crate) struct Choice<'d> {
    pub(crate) key: usize,
    pub(crate) branches: Vec<Branch<'d>>,
}

/// What one schema object says about properties.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Members<'d> {
    pub(crate) declared: Option<&'d Map<String, Value>>,
    pub(crate) additional: Option<&'d Value>,
}

/// The demands of a list of schemas.
#[derive(Debug)]
pub(crate) struct Shape<'d> {
    /// The addresses of all schema objects in it: equal keys are equal demands.
    pub(crate) key: Vec<usize>,
    pub(crate) types: Types,
    pub(crate) hint: Option<Type>,
    /// The schema objects themselves, for the keywords of one type.
    pub(crate) parts: Vec<&'d Map<String, Value>>,
    pub(crate) members: Vec<Members<'d>>,
    pub(crate) required: Vec<&'d str>,
    pub(crate) choices: Vec<Choice<'d>>,
    pub(crate) has_not: bool,
    /// Tags that inheritance gives.
    pub(crate) tags: Vec<Tag>,
}

impl<'d> Shape<'d> {
    /// Collects the demands.
    pub(crate) fn of(document: &'d Document, list: &[&'d Value]) -> Result<Self, Reason> {
        let mut shape = Self {
            key: Vec::new(),
            types: Types::ANY,
            hint: None,
            parts: Vec::new(),
            members: Vec::new(),
            required: Vec::new(),
            choices: Vec::new(),
            has_not: false,
            tags: Vec::new(),
        };
        for node in list {
            shape.lay_out(document, node, node, 0)?;
        }
        if shape.required.len() > REQUIRED {
            return Err(Reason::new(format!(
                "it requires more than {REQUIRED} properties"
            )));
        }
        shape.key.sort_unstable();
        Ok(shape)
    }

    /// `heir` is the schema that began the chain of `allOf`.
    fn lay_out(
        &mut self,
        document: &'d Document,
        node: &'d Value,
        heir: &'d Value,
        depth: usize,
    ) -> Result<(), Reason> {
        let node = document.follow(node)?;
        let address = std::ptr::from_ref(node).addr();
        if self.key.contains(&address) {
            return Ok(());
        }
        self.key.push(address);
        let crowded = self.parts.len() >= PARTS || self.choices.len() > CHOICES;
        if crowded || depth > CHAIN || self.required.len() > REQUIRED {
            return Err(Reason::new("too many schemas are combined in one"));
        }
        let inherited = depth > 0;
        let Some(map) = node.as_object() else {
            return Err(Reason::new("a schema is no object"));
        };
        self.take(document, map)?;
        self.choose(document, map, node, inherited)?;
        if let Some(discriminator) = map.get("discriminator").filter(|_| inherited) {
            self.tags.extend(tag_of(document, discriminator, heir));
        }
        for child in list_of(map, "allOf")? {
            self.lay_out(document, child, heir, depth + 1)?;
        }
        Ok(())
    }

    fn take(&mut self, document: &'d Document, map: &'d Map<String, Value>) -> Result<(), Reason> {
        self.types = self.types.and(Types::of(map)?);
        self.hint = self.hint.or_else(|| hint(map));
        self.has_not |= map.contains_key("not");
        self.parts.push(map);
        let declared = map.get("properties").and_then(Value::as_object);
        self.members.push(Members {
            declared,
            additional: map.get("additionalProperties"),
        });
        let names = map.get("required").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        for name in names.take(REQUIRED + 1) {
            let property = declared.and_then(|declared| declared.get(name));
            if !self.required.contains(&name) && !is_write_only(document, property) {
                self.required.push(name);
            }
        }
        Ok(())
    }

    fn choose(
        &mut self,
        document: &'d Document,
        map: &'d Map<String, Value>,
        node: &'d Value,
        inherited: bool,
    ) -> Result<(), Reason> {
        let discriminator = map.get("discriminator");
        let before = self.choices.len();
        for key in ["oneOf", "anyOf"] {
            let list = list_of(map, key)?;
            if !map.contains_key(key) {
                continue;
            }
            let branches = list.iter().map(|node| Branch {
                node,
                tag: discriminator.and_then(|found| tag_of(document, found, node)),
            });
            self.choices.push(Choice {
                key: std::ptr::from_ref(&map[key]).addr(),
                branches: branches.collect(),
            });
        }
        if let Some(discriminator) = discriminator
            && !inherited
            && self.choices.len() == before
        {
            self.descend(document, discriminator, node);
        }
        Ok(())
    }

    /// A value of a base schema is one of the schemas that its mapping names.
    fn descend(&mut self, document: &'d Document, discriminator: &'d Value, base: &'d Value) {
        let property = discriminator.get("propertyName").and_then(Value::as_str);
        let mapping = discriminator.get("mapping").and_then(Value::as_object);
        let (Some(property), Some(mapping)) = (property, mapping) else {
            return;
        };
        let heirs = mapping.iter().filter_map(|(tag, to)| {
            Some(Branch {
                node: mapped_target(document, to.as_str()?)?,
                tag: Some((property.to_owned(), tag.clone())),
            })
        });
        let branches: Vec<Branch<'d>> = heirs.collect();
        let itself = |branch: &Branch<'d>| std::ptr::eq(branch.node, base);
        if let Some(own) = branches.iter().find(|branch| itself(branch)) {
            self.tags.extend(own.tag.clone());
        } else if !branches.is_empty() {
            let key = std::ptr::from_ref(discriminator).addr();
            self.choices.push(Choice { key, branches });
        }
    }

    /// The values of a keyword in all schema objects.
    pub(crate) fn all<'s>(&'s self, key: &'s str) -> impl Iterator<Item = &'d Value> + 's {
        self.parts.iter().filter_map(move |part| part.get(key))
    }

    /// True if building by type alone may miss a demand.
    pub(crate) fn is_intricate(&self) -> bool {
        self.has_not || !self.choices.is_empty() || !self.tags.is_empty()
    }
}

/// The type that a schema without `type` speaks of.
fn hint(map: &Map<String, Value>) -> Option<Type> {
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    if has(&[
        "properties",
        "additionalProperties",
        "minProperties",
        "required",
    ]) {
        Some(Type::Object)
    } else if has(&["items", "minItems"]) {
        Some(Type::Array)
    } else if has(&["pattern", "minLength", "maxLength"]) {
        Some(Type::String)
    } else if has(&["minimum", "maximum", "multipleOf"]) {
        Some(Type::Integer)
    } else {
        match map.get("format").and_then(Value::as_str)? {
            "int32" | "int64" => Some(Type::Integer),
            "float" | "double" => Some(Type::Number),
            _ => Some(Type::String),
        }
    }
}

fn list_of<'d>(map: &'d Map<String, Value>, key: &str) -> Result<&'d [Value], Reason> {
    match map.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) if list.is_empty() => {
            Err(Reason::new(format!("`{key}` is empty")))
        }
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(Reason::new(format!("`{key}` is no list"))),
    }
}
