//! Sets of JSON types.

use serde_json::{Map, Value};

use crate::reason::Reason;

/// One JSON type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Type {
    Object = 1,
    Array = 2,
    String = 4,
    Integer = 8,
    /// A number with a fraction.
    Number = 16,
    Boolean = 32,
    Null = 64,
}

/// The order in which types are tried.
const ORDER: [Type; 7] = [
    Type::Object,
    Type::Array,
    Type::String,
    Type::Integer,
    Type::Number,
    Type::Boolean,
    Type::Null,
];

/// Which types a value may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    /// Every type.
    pub(crate) const ANY: Self = Self(127);

    /// The types that a schema object allows, `nullable` included.
    pub(crate) fn of(schema: &Map<String, Value>) -> Result<Self, Reason> {
        let Some(declared) = schema.get("type") else {
            return Ok(Self::ANY);
        };
        let word = declared.as_str().unwrap_or_default();
        let set = match word {
            "object" => Type::Object as u8,
            "array" => Type::Array as u8,
            "string" => Type::String as u8,
            "integer" => Type::Integer as u8,
            "number" => Type::Integer as u8 | Type::Number as u8,
            "boolean" => Type::Boolean as u8,
            _ => {
                return Err(Reason::new(format!(
                    "`{declared}` is no type of OpenAPI 3.0"
                )));
            }
        };
        let nullable = schema.get("nullable") == Some(&Value::Bool(true));
        Ok(Self(set | if nullable { Type::Null as u8 } else { 0 }))
    }

    /// What both allow.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True if the set holds the type.
    pub(crate) fn holds(self, one: Type) -> bool {
        self.0 & one as u8 != 0
    }

    /// True if the set holds the value's type.
    pub(crate) fn fit(self, value: &Value) -> bool {
        self.holds(match value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Boolean,
            Value::Number(n) if n.as_f64().is_some_and(|n| n.fract() == 0.0) => Type::Integer,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::String,
            Value::Array(_) => Type::Array,
            Value::Object(_) => Type::Object,
        })
    }

    /// The types in the order in which they are tried, the hinted one first, null last.
    pub(crate) fn in_order(self, hint: Option<Type>) -> impl Iterator<Item = Type> {
        let others = ORDER.into_iter().filter(move |one| Some(*one) != hint);
        hint.into_iter()
            .chain(others)
            .filter(move |one| self.holds(*one))
    }
}
