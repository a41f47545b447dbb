//! JSON patches, RFC 6902, and the short form that sets plain values.

use serde_json::{Map, Value};

use super::Refused;
use super::pointer::{self, Miss};
use crate::nearest::nearest;
use crate::problem::token;

const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// Applies the operations of `/patch` in order.
pub(super) fn apply(object: &Value, operations: &[Value]) -> Result<Value, Refused> {
    let mut object = object.clone();
    for (index, operation) in operations.iter().enumerate() {
        let at = format!("/patch/{index}");
        let Value::Object(operation) = operation else {
            return Err(Refused::new(
                at,
                "an operation is a mapping",
                "write `{op: replace, path: /spec/replicas, value: 2}`",
            ));
        };
        apply_one(&mut object, operation).map_err(|(member, miss)| {
            let at = match member {
                "" => at,
                member => format!("{at}/{member}"),
            };
            Refused::new(at, miss.message, miss.help)
        })?;
    }
    Ok(object)
}

/// The member that is to blame, and why.
type Blame = (&'static str, Miss);

fn apply_one(object: &mut Value, operation: &Map<String, Value>) -> Result<(), Blame> {
    let op = text(operation, "op")?;
    if !OPERATIONS.contains(&op) {
        let help = nearest(op, OPERATIONS).map_or_else(
            || format!("operations are {}", crate::nearest::quoted(OPERATIONS)),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(("op", Miss::new(format!("`{op}` is no operation"), help)));
    }
    let path = keys(operation, "path")?;
    let to = |miss| ("path", miss);
    match op {
        "add" => add(object, &path, value(operation, op)?.clone()).map_err(to),
        "remove" => remove(object, &path).map(drop).map_err(to),
        "replace" => {
            let value = value(operation, op)?.clone();
            *pointer::get_mut(object, &path).map_err(to)? = value;
            Ok(())
        }
        "test" => {
            let wanted = value(operation, op)?;
            let found = pointer::get(object, &path).map_err(to)?;
            if equal(found, wanted) {
                return Ok(());
            }
            let message = format!("`{}` does not hold this value", pointer::text(&path));
            Err((
                "value",
                Miss::new(message, "correct the value, or take the `test` out"),
            ))
        }
        _ => transfer(object, operation, op, &path),
    }
}

/// `move` and `copy`.
fn transfer(
    object: &mut Value,
    operation: &Map<String, Value>,
    op: &str,
    path: &[String],
) -> Result<(), Blame> {
    let from = keys(operation, "from")?;
    let source = |miss| ("from", miss);
    let value = if op == "copy" {
        pointer::get(object, &from).map_err(source)?.clone()
    } else {
        if path.len() > from.len() && path.starts_with(&from) {
            let message = format!("`{}` cannot move into itself", pointer::text(&from));
            return Err(source(Miss::new(message, "use `copy`, or another `path`")));
        }
        if from.is_empty() {
            pointer::get(object, &from).map_err(source)?.clone()
        } else {
            remove(object, &from).map_err(source)?
        }
    };
    add(object, path, value).map_err(|miss| ("path", miss))
}

fn text<'a>(operation: &'a Map<String, Value>, member: &'static str) -> Result<&'a str, Blame> {
    match operation.get(member) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err((
            member,
            Miss::new(format!("`{member}` is not text"), "put it in quotes"),
        )),
        None => Err((
            "",
            Miss::new(
                format!("the operation has no `{member}`"),
                format!("add `{member}:`"),
            ),
        )),
    }
}

fn keys(operation: &Map<String, Value>, member: &'static str) -> Result<Vec<String>, Blame> {
    pointer::parse(text(operation, member)?).map_err(|miss| (member, miss))
}

fn value<'a>(operation: &'a Map<String, Value>, op: &str) -> Result<&'a Value, Blame> {
    operation.get("value").ok_or_else(|| {
        let message = format!("operation `{op}` has no `value`");
        ("", Miss::new(message, "add `value:`; `null` counts as one"))
    })
}

fn add(object: &mut Value, path: &[String], value: Value) -> Result<(), Miss> {
    let Some((last, folder)) = path.split_last() else {
        *object = value;
        return Ok(());
    };
    match pointer::get_mut(object, folder)? {
        Value::Object(fields) => drop(fields.insert(last.clone(), value)),
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => {
            let length = items.len();
            let index = pointer::index(last)
                .filter(|index| *index <= length)
                .ok_or_else(|| no_room(path, folder, length))?;
            items.insert(index, value);
        }
        _ => return pointer::get(object, path).map(drop),
    }
    Ok(())
}

fn no_room(path: &[String], folder: &[String], length: usize) -> Miss {
    let (path, list) = (pointer::text(path), pointer::text(folder));
    Miss::new(
        format!("`{path}` cannot be added: `{list}` is a list of {length}"),
        format!("write `{list}/-` to add at its end"),
    )
}

fn remove(object: &mut Value, path: &[String]) -> Result<Value, Miss> {
    pointer::get(object, path)?;
    let Some((last, folder)) = path.split_last() else {
        let help = "to leave the object out, write a patch with `$patch: delete`";
        return Err(Miss::new("the object itself cannot be removed", help));
    };
    let removed = match pointer::get_mut(object, folder)? {
        Value::Object(fields) => fields.shift_remove(last),
        Value::Array(items) => pointer::index(last).map(|index| items.remove(index)),
        _ => None,
    };
    Ok(removed.unwrap_or(Value::Null))
}

/// Equal as RFC 6902 asks: numbers by value, mappings in any order.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(one), Value::Number(two)) => {
            one == two || one.is_f64() != two.is_f64() && one.as_f64() == two.as_f64()
        }
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(a, b)| equal(a, b))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one
                    .iter()
                    .all(|(key, a)| two.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Sets the plain values of `/set`, by pointer.
pub(super) fn set(object: &Value, values: &Map<String, Value>) -> Result<Value, Refused> {
    let mut object = object.clone();
    for (path, value) in values {
        set_one(&mut object, path, value).map_err(|miss| {
            Refused::new(format!("/set/{}", token(path)), miss.message, miss.help)
        })?;
    }
    Ok(object)
}

fn set_one(object: &mut Value, path: &str, value: &Value) -> Result<(), Miss> {
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    if value.is_null() || !is_plain(value) {
        let what = if value.is_null() {
            "`null`"
        } else {
            "a list or mapping"
        };
        let help = "use `patch:` with operations, or a patch in the form of the object";
        return Err(Miss::new(
            format!("`set` writes plain values, not {what}"),
            help,
        ));
    }
    let keys = pointer::parse(path)?;
    if let Ok(known) = pointer::get(object, &keys) {
        if !is_plain(known) {
            let message = format!("`{path}` is a list or mapping, and `set` writes plain values");
            return Err(Miss::new(message, "name a value inside it"));
        }
        *pointer::get_mut(object, &keys)? = value.clone();
        return Ok(());
    }
    match keys.split_last() {
        Some((_, folder)) if pointer::get(object, folder)?.is_object() => {
            add(object, &keys, value.clone())
        }
        _ => pointer::get(object, &keys).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Object, operations, result: the examples of RFC 6902, appendix A, that must succeed, and
    /// whole objects.
    const CASES: &str = r#"[
        [{"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"foo": "bar", "baz": "qux"}],
        [{"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}], {"foo": ["bar", "qux", "baz"]}],
        [{"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}],
        [{"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}],
        [{"baz": "qux"}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo"}],
        [{"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
         [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
         {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}],
        [{"foo": ["all", "grass", "cows", "eat"]}, [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
         {"foo": ["all", "cows", "eat", "grass"]}],
        [{"baz": "qux", "foo": ["a", 2, "c"]},
         [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
         {"baz": "qux", "foo": ["a", 2, "c"]}],
        [{"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
         {"foo": "bar", "child": {"grandchild": {}}}],
        [{"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}], {"foo": "bar", "baz": "qux"}],
        [{"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}],
        [{"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}], {"foo": ["bar", ["abc", "def"]]}],
        [{"a": 1}, [{"op": "add", "path": "", "value": {"b": 2}}], {"b": 2}],
        [{"a": 1}, [{"op": "copy", "from": "", "path": "/b"}], {"a": 1, "b": {"a": 1}}],
        [{"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": {"b": 1}}]
    ]"#;

    #[test]
    fn operations_follow_rfc_6902() {
        let cases: Vec<(Value, Vec<Value>, Value)> = serde_json::from_str(CASES).expect("cases");
        for (object, operations, expected) in cases {
            assert_eq!(apply(&object, &operations), Ok(expected), "{operations:?}");
        }
    }

    #[test]
    fn a_removal_keeps_the_order_of_what_stays() {
        let object = json!({"a": 1, "b": 2, "c": 3, "d": 4});
        let operations = [json!({"op": "remove", "path": "/a"})];
        let value = apply(&object, &operations).expect("applied");
        assert_eq!(value.to_string(), r#"{"b":2,"c":3,"d":4}"#);
    }

    #[test]
    fn numbers_are_equal_by_value_and_large_ones_exactly() {
        assert!(equal(&json!([1, {"a": 2.0}]), &json!([1.0, {"a": 2}])));
        assert!(!equal(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64)
        ));
        assert!(!equal(&json!("1"), &json!(1)));
    }
}
