//! "Did you mean": the nearest known word.

/// The known word that is close enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(2);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A word that contains or ends the other is as good as one typing error away.
fn distance(word: &str, candidate: &str) -> usize {
    let related = word.len() > 3
        && (candidate.contains(word) || word.contains(candidate) && candidate.len() > 3);
    if related {
        1
    } else {
        strsim::damerau_levenshtein(word, candidate)
    }
}

/// The words, each in backticks, for a message.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        assert_eq!(
            nearest("cluster-wroker", ["cluster-worker", "other"]),
            Some("cluster-worker")
        );
        assert_eq!(
            nearest("crossplane", ["nextgen-crossplane", "x"]),
            Some("nextgen-crossplane")
        );
        assert_eq!(nearest("alpha", ["omega-service"]), None);
    }
}
