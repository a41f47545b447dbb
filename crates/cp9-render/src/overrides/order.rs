//! The order of merged lists, as `kubectl patch` leaves it: what the patch names stands in the
//! patch's order, the rest goes before the first of them that it stood before.

use serde_json::Value;

/// What makes an element of a list the same as another.
type Id<'a> = &'a dyn Fn(&Value) -> Option<Value>;

/// Both lists of plain values, each value once.
pub(super) fn union(original: &[Value], patch: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in original.iter().chain(patch) {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    interleave(all, patch, original, &|value| Some(value.clone()))
}

/// Orders the merged elements of `original` and `patch`.
pub(super) fn interleave(
    merged: Vec<Value>,
    patch: &[Value],
    original: &[Value],
    id: Id<'_>,
) -> Vec<Value> {
    let place = |list: &[Value], value: &Value| {
        let wanted = id(value)?;
        list.iter()
            .position(|other| id(other).as_ref() == Some(&wanted))
    };
    let (mut told, left): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|value| place(patch, value).is_some());
    told.sort_by_key(|value| place(patch, value));
    let mut told = told.into_iter().peekable();
    let mut left = left.into_iter().peekable();
    let mut all = Vec::new();
    while let (Some(kept), Some(next)) = (left.peek(), told.peek()) {
        let places = (place(original, kept), place(original, next));
        let before = matches!(places, (Some(kept), Some(next)) if kept < next);
        all.extend(if before { left.next() } else { told.next() });
    }
    all.extend(told);
    all.extend(left);
    all
}
