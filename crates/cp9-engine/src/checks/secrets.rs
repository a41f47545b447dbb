//! Secrets: the env files that are declared, and the keys that running services take from theirs.
//! Names only; no value leaves this file.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::envfile;
use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;
use crate::commands::quote;

/// The check's name.
pub(super) const CHECK: &str = "secrets";

/// What is declared and what is there.
#[derive(Debug, Default)]
pub(super) struct Facts {
    declared: Vec<Declared>,
    /// References of the dev plan whose file lacks the key.
    without: Vec<Reference>,
}

/// An env file of the session file.
#[derive(Debug)]
struct Declared {
    service: String,
    file: Utf8PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Missing,
    /// It cannot be read, and why.
    Unread(String),
    /// It is no env file; place and problem of each wrong line.
    Wrong(Vec<(String, String)>),
    /// So many keys.
    Right(usize),
}

#[derive(Debug)]
struct Reference {
    service: String,
    variable: String,
    key: String,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let config = context.needs_config()?;
    let files = config.secrets.iter();
    let files = files.filter_map(|(service, inputs)| Some((service, inputs.env_file.as_ref()?)));
    Ok(Facts {
        declared: files
            .map(|(service, file)| Declared {
                service: service.to_string(),
                file: file.into(),
                content: read(context, file.as_str().into()),
            })
            .collect(),
        without: without(context),
    })
}

fn read(context: &Context<'_>, file: &Utf8Path) -> Content {
    let doors = &context.engine.doors;
    if !doors.exists(file) {
        return Content::Missing;
    }
    let bytes = match doors.read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            let cause = std::error::Error::source(&error);
            return Content::Unread(cause.map_or_else(|| error.to_string(), ToString::to_string));
        }
    };
    match envfile::parse(file.as_str(), &bytes) {
        Ok(pairs) => Content::Right(pairs.len()),
        Err(problems) => Content::Wrong(
            problems
                .into_iter()
                .map(|problem| {
                    let place = format!("{file}:{}:{}", problem.line, problem.column);
                    (place, problem.message)
                })
                .collect(),
        ),
    }
}

/// What the plan takes from secret files that do not hold it.
fn without(context: &Context<'_>) -> Vec<Reference> {
    let Some(plan) = context.disk().and_then(|disk| disk.plan.as_ref()) else {
        return Vec::new();
    };
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for resource in &plan.resources {
        for secret in &resource.secrets {
            let file = plan.expand(&secret.file);
            let keys = files
                .entry(file.clone())
                .or_insert_with(|| keys(context, &file));
            if !keys.contains(&secret.key) {
                without.push(Reference {
                    service: resource.service.clone(),
                    variable: secret.env.clone(),
                    key: secret.key.clone(),
                });
            }
        }
    }
    without
}

fn keys(context: &Context<'_>, file: &str) -> BTreeSet<String> {
    let bytes = context.engine.doors.read(file.into()).unwrap_or_default();
    let pairs = envfile::parse(file, &bytes).unwrap_or_default();
    pairs.into_iter().map(|(key, _)| key).collect()
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = facts.declared.iter().flat_map(declared).collect();
    findings.extend(facts.without.iter().map(|reference| {
        let Reference {
            service,
            variable,
            key,
        } = reference;
        let text = format!("variable `{variable}` of service `{service}` has no secret `{key}`");
        let missing = Finding::warning(CHECK, "secret-key-missing", text).about(service);
        missing.remedy(format!(
            "add `{key}` to `secrets.{service}`, then run `cp9 up`"
        ))
    }));
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "secrets-none", "no secret is missing"));
    }
    findings
}

fn declared(declared: &Declared) -> Vec<Finding> {
    let Declared {
        service,
        file,
        content,
    } = declared;
    let finding = match content {
        Content::Right(count) => {
            let text = format!("service `{service}` has {count} secrets in `{file}`");
            Finding::ok(CHECK, "secret-file", text)
        }
        Content::Missing => {
            let text = format!("env file `{file}` of service `{service}` does not exist");
            Finding::warning(CHECK, "secret-file-missing", text).remedy(format!(
                "write `KEY=VALUE` lines to `{file}`, or remove `secrets.{service}.env_file`"
            ))
        }
        Content::Unread(why) => {
            let text = format!("env file `{file}` of service `{service}` cannot be read: {why}");
            Finding::error(CHECK, "secret-file-unreadable", text).remedy(format!(
                "check owner and mode: `ls -l {}`",
                quote(file.as_str())
            ))
        }
        Content::Wrong(problems) => {
            let wrong = problems.iter().map(|(place, problem)| {
                let wrong = Finding::error(CHECK, "secret-file-invalid", problem).about(place);
                wrong.remedy("write one `KEY=VALUE` a line")
            });
            return wrong.collect();
        }
    };
    vec![finding.about(service)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn file(content: Content) -> Facts {
        Facts {
            declared: vec![Declared {
                service: "api".into(),
                file: "/w/.env.dev".into(),
                content,
            }],
            without: Vec::new(),
        }
    }

    #[track_caller]
    fn assert_found(facts: &Facts, id: &str, severity: Severity) {
        let found = judge(facts).remove(0);
        assert_eq!((found.id.as_str(), found.severity), (id, severity));
    }

    #[test]
    fn a_missing_file_is_a_warning_and_a_wrong_one_an_error() {
        assert_found(
            &file(Content::Missing),
            "secret-file-missing",
            Severity::Warning,
        );
        assert_found(
            &file(Content::Unread("denied".into())),
            "secret-file-unreadable",
            Severity::Error,
        );
        let wrong = Content::Wrong(vec![("/w/.env.dev:3:1".into(), "no `=`".into())]);
        assert_found(&file(wrong), "secret-file-invalid", Severity::Error);
        assert_found(&file(Content::Right(2)), "secret-file", Severity::Ok);
        assert_found(&Facts::default(), "secrets-none", Severity::Ok);
    }

    #[test]
    fn a_key_without_a_value_is_named() {
        let facts = Facts {
            declared: Vec::new(),
            without: vec![Reference {
                service: "api".into(),
                variable: "DB_PASSWORD".into(),
                key: "DB_PASSWORD".into(),
            }],
        };
        assert_found(&facts, "secret-key-missing", Severity::Warning);
        let remedy = judge(&facts).remove(0).remedy.expect("a remedy");
        assert!(remedy.contains("secrets.api"), "{remedy}");
    }
}
