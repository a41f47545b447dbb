//! JSON pointers, RFC 6901, into objects that overrides change; every miss is said exactly.

use serde_json::Value;

use crate::nearest::{nearest, quoted};

/// Why a place cannot be reached or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Miss {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Miss {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

/// The keys of a pointer.
pub(super) fn parse(pointer: &str) -> Result<Vec<String>, Miss> {
    let form = || {
        Miss::new(
            format!("`{pointer}` is no JSON pointer"),
            "begin it with `/` and write `~1` for `/` and `~0` for `~` inside a key, such as `/metadata/annotations/example.com~1mode`",
        )
    };
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let rest = pointer.strip_prefix('/').ok_or_else(form)?;
    rest.split('/')
        .map(|token| {
            let plain = token.replace("~0", "").replace("~1", "");
            if plain.contains('~') {
                return Err(form());
            }
            Ok(token.replace("~1", "/").replace("~0", "~"))
        })
        .collect()
}

/// The value at a place.
pub(super) fn get<'a>(value: &'a Value, keys: &[String]) -> Result<&'a Value, Miss> {
    keys.iter()
        .enumerate()
        .try_fold(value, |value, (depth, key)| {
            let at = step(value, keys, depth)?;
            Ok(match at {
                Step::Key => &value[key.as_str()],
                Step::Index(index) => &value[index],
            })
        })
}

/// The value at a place, to be changed.
pub(super) fn get_mut<'a>(value: &'a mut Value, keys: &[String]) -> Result<&'a mut Value, Miss> {
    let mut value = value;
    for (depth, key) in keys.iter().enumerate() {
        let at = step(value, keys, depth)?;
        value = match at {
            Step::Key => &mut value[key.as_str()],
            Step::Index(index) => &mut value[index],
        };
    }
    Ok(value)
}

/// How a key leads on.
enum Step {
    Key,
    Index(usize),
}

/// Finds the key at a depth in the value there.
fn step(value: &Value, keys: &[String], depth: usize) -> Result<Step, Miss> {
    let key = &keys[depth];
    match value {
        Value::Object(fields) if fields.contains_key(key) => Ok(Step::Key),
        Value::Object(fields) => Err(no_key(
            keys,
            depth,
            fields.keys().map(String::as_str).collect(),
        )),
        Value::Array(items) => match index(key) {
            Some(index) if index < items.len() => Ok(Step::Index(index)),
            _ => Err(no_index(keys, depth, items.len())),
        },
        _ => Err(Miss::new(
            format!(
                "`{}` does not exist: `{}` holds no mapping and no list",
                text(keys),
                text(&keys[..depth])
            ),
            "correct the path",
        )),
    }
}

fn no_key(keys: &[String], depth: usize, known: Vec<&str>) -> Miss {
    let help = match nearest(&keys[depth], known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("keys there: {}", quoted(known)),
    };
    let message = if depth == 0 {
        format!(
            "`{}` does not exist: the object has no `{}`",
            text(keys),
            keys[depth]
        )
    } else {
        format!(
            "`{}` does not exist: `{}` has no `{}`",
            text(keys),
            text(&keys[..depth]),
            keys[depth]
        )
    };
    Miss::new(message, help)
}

fn no_index(keys: &[String], depth: usize, length: usize) -> Miss {
    Miss::new(
        format!(
            "`{}` does not exist: `{}` is a list of {length}",
            text(keys),
            text(&keys[..depth])
        ),
        "count from 0, without leading zeros",
    )
}

/// A list index as RFC 6901 writes it.
pub(super) fn index(key: &str) -> Option<usize> {
    let plain = key == "0" || !key.starts_with('0') && key.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| key.parse().ok()).flatten()
}

/// The pointer of keys.
pub(super) fn text(keys: &[String]) -> String {
    keys.iter()
        .flat_map(|key| ["/".to_owned(), crate::problem::token(key)])
        .collect()
}
