//! `run.ignore`: parts of the manifests that a service does without as a process.

use crate::argo::glob::Glob;

/// The patterns of one service, such as `initContainers/migrate` or `Job/*`.
#[derive(Debug, Clone)]
pub(crate) struct Ignore<'a> {
    patterns: Vec<(&'a str, Option<Glob>)>,
}

impl<'a> Ignore<'a> {
    /// Takes the patterns as written; a broken glob stands for itself.
    pub(crate) fn new(patterns: &'a [String]) -> Self {
        Self {
            patterns: patterns
                .iter()
                .map(|pattern| (pattern.as_str(), Glob::new(pattern).ok()))
                .collect(),
        }
    }

    /// True when a pattern covers the part.
    pub(crate) fn covers(&self, part: &str) -> bool {
        self.patterns.iter().any(|(text, glob)| {
            *text == part || glob.as_ref().is_some_and(|glob| glob.matches(part))
        })
    }

    /// The patterns that cover none of the parts.
    pub(crate) fn unused(&self, parts: &[String]) -> Vec<String> {
        let covers =
            |glob: &Option<Glob>, part: &str| glob.as_ref().is_some_and(|glob| glob.matches(part));
        self.patterns
            .iter()
            .filter(|(text, glob)| !parts.iter().any(|part| part == text || covers(glob, part)))
            .map(|(text, _)| (*text).to_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_parts_or_all_of_a_kind() {
        let patterns = [
            "Job/*".to_owned(),
            "initContainers/wait".to_owned(),
            "volumes/old".to_owned(),
        ];
        let ignore = Ignore::new(&patterns);
        assert!(ignore.covers("Job/migrate") && ignore.covers("initContainers/wait"));
        assert!(!ignore.covers("CronJob/x") && !ignore.covers("initContainers/wait-2"));
        assert_eq!(
            ignore.unused(&["Job/migrate".to_owned(), "initContainers/wait".to_owned()]),
            ["volumes/old"]
        );
    }
}
