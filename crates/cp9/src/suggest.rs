//! "Did you mean": the word of a list that is closest to one that is not in it.

/// Below this a suggestion confuses more than it helps; clap draws the line at the same place.
const CLOSE_ENOUGH: f64 = 0.7;

/// The closest of `known`, if it is close enough.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > CLOSE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn typing_errors_are_found_and_strangers_are_not() {
        let known = ["follow", "since", "service"];
        assert_eq!(closest("folow", known), Some("follow"));
        assert_eq!(closest("servce", known), Some("service"));
        assert_eq!(closest("quux", known), None);
        assert_eq!(closest("", known), None);
    }
}
