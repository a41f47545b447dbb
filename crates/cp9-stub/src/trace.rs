//! The trace id of a request: its own, or a new one.

use hyper::HeaderMap;
use hyper::header::HeaderName;
use uuid::Uuid;

/// The longest id that is taken over.
const LONGEST: usize = 128;

/// The id that a request brings in `header`, else the one of its `traceparent`, else a new one.
pub(crate) fn of(headers: &HeaderMap, header: &HeaderName) -> String {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let own = text(header.as_str()).filter(|id| is_id(id));
    let parent = text("traceparent").and_then(|parent| parent.split('-').nth(1));
    let parent = parent.filter(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    own.or(parent)
        .map_or_else(|| Uuid::new_v4().simple().to_string(), str::to_owned)
}

/// Ids stay on one line and within a header.
fn is_id(id: &str) -> bool {
    (1..=LONGEST).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&'static str, &str)]) -> String {
        let headers = pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    value.parse().expect("a value"),
                )
            })
            .collect();
        of(&headers, &HeaderName::from_static("x-trace-id"))
    }

    #[test]
    fn an_own_id_wins_over_the_parent() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(
            found(&[("x-trace-id", " abc "), ("traceparent", parent)]),
            "abc"
        );
        assert_eq!(
            found(&[("traceparent", parent)]),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
    }

    #[test]
    fn what_is_no_id_is_replaced() {
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", "two words", long.as_str(), "caf\u{e9}"] {
            let made = found(&[("x-trace-id", bad), ("traceparent", "00-x-y-01")]);
            assert_eq!(made.len(), 32, "{bad:?} gave {made:?}");
        }
    }
}
