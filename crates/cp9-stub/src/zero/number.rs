//! The number nearest to zero that its bounds allow.

use serde_json::{Number, Value};

use super::shape::Shape;
use crate::reason::Reason;

/// How many multiples are tried when there are several steps.
const TRIES: i128 = 10_000;

/// Beyond every format, and far from the end of the arithmetic.
const FAR: f64 = 1e30;

/// One bound.
#[derive(Clone, Copy)]
struct Bound<'d> {
    value: &'d Number,
    exclusive: bool,
}

/// The value as a whole number, if it is one of 64 bits.
pub(crate) fn exact_i64(value: f64) -> Option<i64> {
    // 2^63 is the first float that is too large.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range was checked and there is no fraction"
    )]
    (fits && value.fract() == 0.0).then_some(value as i64)
}

/// A whole number.
pub(crate) fn integer(shape: &Shape<'_>) -> Result<Value, Reason> {
    let (mut low, mut high) = width(shape);
    for bound in bounds(shape, "minimum", "exclusiveMinimum") {
        low = low.max(whole(bound, 1));
    }
    for bound in bounds(shape, "maximum", "exclusiveMaximum") {
        high = high.min(whole(bound, -1));
    }
    let steps: Vec<&Number> = steps(shape).collect();
    let step = steps.iter().filter_map(|n| exact(n)).max().unwrap_or(1);
    let start = if low > 0 {
        low
    } else if high < 0 {
        high
    } else {
        0
    };
    let step = step.max(1);
    let first = if start < 0 {
        start.div_euclid(step) * step
    } else {
        (start + step - 1).div_euclid(step) * step
    };
    let onward = if start < 0 { -step } else { step };
    let found = (0..TRIES).map(|i| first + i * onward);
    let found = found
        .take_while(|n| (low..=high).contains(n))
        .find(|n| steps.iter().all(|step| divides(step, *n)));
    found
        .and_then(json_integer)
        .ok_or_else(|| Reason::new("no whole number is within its bounds"))
}

/// Any number; a whole one where that will do.
pub(crate) fn number(shape: &Shape<'_>) -> Result<Value, Reason> {
    if let Ok(whole) = integer(shape) {
        return Ok(whole);
    }
    let low = bounds(shape, "minimum", "exclusiveMinimum")
        .map(|bound| float(bound.value))
        .fold(f64::NEG_INFINITY, f64::max);
    let high = bounds(shape, "maximum", "exclusiveMaximum")
        .map(|bound| float(bound.value))
        .fold(f64::INFINITY, f64::min);
    let middle = low.midpoint(high);
    let step = steps(shape).map(float).next();
    let stepped = step.into_iter().flat_map(|step| {
        let first = if low > f64::NEG_INFINITY { low } else { high };
        [
            (first / step).ceil() * step,
            (first / step).floor() * step,
            ((first / step).ceil() + 1.0) * step,
        ]
    });
    let found = stepped
        .chain([low, high, middle])
        .find(|n| n.is_finite() && fits(shape, *n));
    found
        .and_then(Number::from_f64)
        .map(Value::Number)
        .ok_or_else(|| Reason::new("no number is within its bounds"))
}

/// A number with a fraction, where a whole one is ambiguous.
pub(crate) fn fraction(shape: &Shape<'_>) -> Result<Value, Reason> {
    let base = number(shape)?.as_f64().unwrap_or_default();
    let found = [base + 0.5, base - 0.5, base + 0.001]
        .into_iter()
        .find(|n| fits(shape, *n));
    found
        .and_then(Number::from_f64)
        .map(Value::Number)
        .ok_or_else(|| Reason::new("no number with a fraction is within its bounds"))
}

fn fits(shape: &Shape<'_>, n: f64) -> bool {
    let above = bounds(shape, "minimum", "exclusiveMinimum").all(|bound| {
        let low = float(bound.value);
        n > low || (!bound.exclusive && n >= low)
    });
    let below = bounds(shape, "maximum", "exclusiveMaximum").all(|bound| {
        let high = float(bound.value);
        n < high || (!bound.exclusive && n <= high)
    });
    above && below && steps(shape).all(|step| (n / float(step)).fract() == 0.0)
}

fn bounds<'s>(
    shape: &'s Shape<'_>,
    key: &'static str,
    exclusive: &'static str,
) -> impl Iterator<Item = Bound<'s>> {
    shape.parts.iter().filter_map(move |part| {
        Some(Bound {
            value: part.get(key)?.as_number()?,
            exclusive: part.get(exclusive) == Some(&Value::Bool(true)),
        })
    })
}

fn steps<'s>(shape: &'s Shape<'_>) -> impl Iterator<Item = &'s Number> {
    shape.all("multipleOf").filter_map(Value::as_number)
}

/// What the format leaves; without one, what JSON numbers are read as nearly everywhere.
fn width(shape: &Shape<'_>) -> (i128, i128) {
    if shape.all("format").any(|format| format == "int32") {
        (i32::MIN.into(), i32::MAX.into())
    } else if shape.all("format").any(|format| format == "int64") {
        (i64::MIN.into(), i64::MAX.into())
    } else {
        (i64::MIN.into(), u64::MAX.into())
    }
}

/// The outermost whole number within a bound; `inward` leads away from it.
fn whole(bound: Bound<'_>, inward: i128) -> i128 {
    let at = exact(bound.value);
    if let Some(at) = at {
        return if bound.exclusive { at + inward } else { at };
    }
    let at = float(bound.value).clamp(-FAR, FAR);
    let rounded = if inward > 0 { at.ceil() } else { at.floor() };
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    (rounded as i128)
}

fn exact(number: &Number) -> Option<i128> {
    let small = number.as_i64().map(i128::from);
    small
        .or_else(|| number.as_u64().map(i128::from))
        .or_else(|| number.as_f64().and_then(exact_i64).map(i128::from))
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

fn divides(step: &Number, n: i128) -> bool {
    match exact(step) {
        Some(0) => false,
        Some(step) => n % step == 0,
        #[expect(clippy::cast_precision_loss, reason = "a float step is a float anyway")]
        None => (n as f64 / float(step)).fract() == 0.0,
    }
}

fn json_integer(n: i128) -> Option<Value> {
    let small = i64::try_from(n).map(Value::from);
    small.or_else(|_| u64::try_from(n).map(Value::from)).ok()
}
