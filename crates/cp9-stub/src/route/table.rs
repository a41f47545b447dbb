//! All templates of a contract, by number of segments and then the more exact first.

use std::collections::HashMap;

use super::template::{Path, Template};

/// A path template with its methods.
#[derive(Debug)]
struct Entry<T> {
    template: Template,
    text: String,
    methods: Vec<(String, T)>,
}

/// The routes of a contract.
#[derive(Debug)]
pub(crate) struct Table<T> {
    by_length: HashMap<usize, Vec<Entry<T>>>,
}

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'t, T> {
    /// An operation; `literal` if its template has no parameter.
    Operation { operation: &'t T, literal: bool },
    /// The path is known, the method is not.
    OtherMethods(Vec<&'t str>),
    /// The path is unknown.
    Nothing,
}

impl<T> Table<T> {
    /// No routes.
    pub(crate) fn new() -> Self {
        Self {
            by_length: HashMap::new(),
        }
    }

    /// Adds an operation, or gives it back with the path that has the same template and method.
    pub(crate) fn add(
        &mut self,
        text: &str,
        template: Template,
        method: &str,
        operation: T,
    ) -> Result<(), String> {
        let entries = self.by_length.entry(template.len()).or_default();
        let same = entries.iter_mut().find(|entry| entry.template == template);
        let Some(entry) = same else {
            let at = entries.partition_point(|entry| entry.template.order(&template).is_le());
            let entry = Entry {
                template,
                text: text.to_owned(),
                methods: vec![(method.to_owned(), operation)],
            };
            entries.insert(at, entry);
            return Ok(());
        };
        if entry.methods.iter().any(|(known, _)| known == method) {
            return Err(entry.text.clone());
        }
        entry.methods.push((method.to_owned(), operation));
        Ok(())
    }

    /// The operation of a request. A less exact template serves a method that a more exact one
    /// does not have; a last slash matters only between templates that differ in nothing else.
    pub(crate) fn find(&self, path: &str, query: &str, method: &str) -> Found<'_, T> {
        let path = Path::of(path, query);
        let entries = self.by_length.get(&path.segments.len());
        let matching: Vec<&Entry<T>> = entries
            .into_iter()
            .flatten()
            .filter(|entry| entry.template.matches(&path))
            .collect();
        let exact = |entry: &&&Entry<T>| entry.template.trailing_slash == path.trailing_slash;
        let (same_slash, other_slash): (Vec<&&Entry<T>>, Vec<_>) = matching.iter().partition(exact);
        for entry in same_slash.into_iter().chain(other_slash) {
            if let Some((_, operation)) = entry.methods.iter().find(|(known, _)| known == method) {
                return Found::Operation {
                    operation,
                    literal: entry.template.is_literal(),
                };
            }
        }
        let mut methods: Vec<&str> = matching
            .iter()
            .flat_map(|entry| entry.methods.iter().map(|(method, _)| method.as_str()))
            .collect();
        methods.sort_unstable();
        methods.dedup();
        if methods.is_empty() {
            Found::Nothing
        } else {
            Found::OtherMethods(methods)
        }
    }
}
