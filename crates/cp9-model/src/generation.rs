//! Which generation of a service runs: its files, its binary and its process compared. Pure; who
//! measures the three says how well they are known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The three generations of a service, and whether they are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Generation {
    /// Digest of the source files on disk; without a build, of all that the process is started from.
    pub source: Option<String>,
    /// Digest of the source files that the binary was built from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_from: Option<String>,
    /// SHA-256 of the built binary on disk; none for a service without a build.
    pub binary: Option<String>,
    /// SHA-256 of the binary that the running process executes; without a build the digest of all
    /// that it was started from.
    pub running: Option<String>,
    /// Digest of older source files from which the very same bytes were built: right after a change
    /// of a comment, and a sign of a build that does not build after any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged_since: Option<String>,
    /// True when what runs was made from the files on disk.
    pub current: bool,
    /// The pair that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<Pair>,
}

/// Two generations that should be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Pair {
    /// The binary was not built from the files on disk.
    #[serde(rename = "source≠binary")]
    SourceBinary,
    /// The process does not execute the binary on disk.
    #[serde(rename = "binary≠running")]
    BinaryRunning,
    /// The process was not started from the files on disk.
    #[serde(rename = "source≠running")]
    SourceRunning,
}

impl Pair {
    /// The pair as it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::SourceBinary => "source≠binary",
            Self::BinaryRunning => "binary≠running",
            Self::SourceRunning => "source≠running",
        }
    }
}

/// What was measured of a service that is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// Digest of the source files on disk.
    pub source: Option<String>,
    /// Digest of the source files that the last product was made from.
    pub built_from: Option<String>,
    /// SHA-256 of the last product, as its build recorded it.
    pub built: Option<String>,
    /// True when the last build ended well and left the product of an earlier one.
    pub unreplaced: bool,
    /// Digest of the source files that the same bytes were built from first.
    pub first_from: Option<String>,
    /// SHA-256 of the binary on disk.
    pub binary: Option<String>,
    /// SHA-256 of what the process executes; none when there is no process.
    pub running: Option<String>,
}

impl Generation {
    /// Of a service that is built from source.
    pub fn built(measured: Measured) -> Self {
        let differs = differs(&measured);
        let Measured {
            source,
            built_from,
            first_from,
            binary,
            running,
            ..
        } = measured;
        Self {
            unchanged_since: first_from.filter(|first| built_from.as_ref() != Some(first)),
            source,
            built_from,
            binary,
            running,
            current: differs.is_none(),
            differs,
        }
    }

    /// Of a service that only runs.
    pub fn unbuilt(source: Option<String>, running: Option<String>) -> Self {
        let differs = (!same(source.as_ref(), running.as_ref())).then_some(Pair::SourceRunning);
        Self {
            source,
            built_from: None,
            binary: None,
            running,
            unchanged_since: None,
            current: differs.is_none(),
            differs,
        }
    }
}

fn differs(measured: &Measured) -> Option<Pair> {
    let Measured {
        source,
        built_from,
        built,
        unreplaced,
        binary,
        running,
        first_from: _,
    } = measured;
    if *unreplaced || !same(source.as_ref(), built_from.as_ref()) || binary.is_none() {
        return Some(Pair::SourceBinary);
    }
    if same(binary.as_ref(), running.as_ref()) {
        // Then the build's own record is what is left to compare.
        return (!same(built.as_ref(), binary.as_ref())).then_some(Pair::SourceBinary);
    }
    Some(Pair::BinaryRunning)
}

/// What is not known is never the same.
fn same(one: Option<&String>, other: Option<&String>) -> bool {
    one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(words: [&str; 5]) -> Measured {
        let [source, built_from, built, binary, running] =
            words.map(|word| (!word.is_empty()).then(|| word.to_owned()));
        Measured {
            source,
            built_from,
            built,
            unreplaced: false,
            first_from: None,
            binary,
            running,
        }
    }

    fn pair(words: [&str; 5]) -> Option<Pair> {
        let generation = Generation::built(measured(words));
        assert_eq!(generation.current, generation.differs.is_none());
        generation.differs
    }

    #[test]
    fn one_generation_is_current_and_any_other_names_its_pair() {
        for (words, expected) in [
            (["s", "s", "b", "b", "b"], None),
            (["t", "s", "b", "b", "b"], Some(Pair::SourceBinary)),
            (["s", "s", "b", "b", "a"], Some(Pair::BinaryRunning)),
            // Three generations apart: the first break is named.
            (["t", "s", "b", "b", "a"], Some(Pair::SourceBinary)),
            // The binary was swapped behind the process.
            (["s", "s", "b", "x", "b"], Some(Pair::BinaryRunning)),
            // What runs lies on disk, and no build made it.
            (["s", "s", "b", "x", "x"], Some(Pair::SourceBinary)),
            (["s", "s", "b", "", "b"], Some(Pair::SourceBinary)),
            (["s", "s", "b", "b", ""], Some(Pair::BinaryRunning)),
            (["", "", "", "", ""], Some(Pair::SourceBinary)),
            (["s", "s", "", "b", "b"], Some(Pair::SourceBinary)),
        ] {
            assert_eq!(pair(words), expected, "{words:?}");
        }
    }

    #[test]
    fn a_build_that_left_the_old_product_is_no_generation_of_its_own() {
        let kept = Measured {
            unreplaced: true,
            ..measured(["s", "s", "b", "b", "b"])
        };
        assert_eq!(Generation::built(kept).differs, Some(Pair::SourceBinary));
    }

    #[test]
    fn the_same_bytes_from_older_sources_are_told_and_no_failure() {
        let of = |first: &str| {
            let generation = Generation::built(Measured {
                first_from: Some(first.into()),
                ..measured(["s", "s", "b", "b", "b"])
            });
            assert!(generation.current);
            generation.unchanged_since
        };
        assert_eq!((of("s"), of("r")), (None, Some("r".into())));
    }

    #[test]
    fn what_only_runs_is_compared_with_its_files() {
        let of = |source: &str, running: Option<&str>| {
            Generation::unbuilt(Some(source.to_owned()), running.map(str::to_owned)).differs
        };
        assert_eq!(of("e", Some("e")), None);
        assert_eq!(of("f", Some("e")), Some(Pair::SourceRunning));
        assert_eq!(of("e", None), Some(Pair::SourceRunning));
        assert!(!Generation::unbuilt(None, None).current);
    }

    #[test]
    fn the_word_is_the_json() {
        for pair in [Pair::SourceBinary, Pair::BinaryRunning, Pair::SourceRunning] {
            assert_eq!(serde_json::to_value(pair).expect("JSON"), pair.word());
        }
    }
}
