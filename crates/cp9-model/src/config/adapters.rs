//! Values whose adapter this build lacks. One line each: a later step takes its line out.

use serde_json::Value;

use super::check::{Check, dotted};
use super::paths::{is_git_url, matching};
use crate::diagnostic::Code;

/// When an entry of the table applies to a value.
#[derive(Debug, Clone, Copy)]
enum When {
    /// The value is this word.
    Is(&'static str),
    /// The value is there.
    Present,
    /// The value is a git URL.
    GitUrl,
}

/// Where, when, and what to do instead.
type Missing = (&'static str, When, &'static str);

const THIS_BUILD: &[Missing] = &[
    ("/controller", When::Is("tilt"), "use `auto` or `embedded`"),
    ("/host/mode", When::Is("local-k3d"), "use `process`"),
    ("/host/mode", When::Is("existing-cluster"), "use `process`"),
    ("/host/mode", When::Is("remote-ec2-k3d"), "use `process`"),
    ("/target/cloud", When::Is("gcp"), "use `local`"),
    ("/target/cloud", When::Is("azure"), "use `local`"),
    ("/target/cloud", When::Is("alicloud"), "use `local`"),
    ("/metadb", When::Present, "remove the block"),
    ("/tunnel", When::Present, "remove the block"),
    ("/credentials", When::Present, "remove the block"),
    ("/registries", When::Present, "remove the block"),
    ("/contracts", When::Present, "remove the block"),
    ("/tilt/include", When::Present, "remove the key"),
    (
        "/appDelivery/repo",
        When::GitUrl,
        "clone it yourself and name the folder",
    ),
    (
        "/terraform/repo",
        When::GitUrl,
        "clone it yourself and name the folder",
    ),
    (
        "/services/stub/*/proto",
        When::Present,
        "use `swagger` with an OpenAPI document, or a `kind`",
    ),
    (
        "/services/source/*/repo",
        When::GitUrl,
        "clone it yourself and name the folder",
    ),
    (
        "/retry/on_budget_exceeded",
        When::Is("draft-pr"),
        "use `abort`",
    ),
];

/// Which adapters are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// Those that this build has.
    ThisBuild,
    /// All of the format, for checks of a file that another build will run.
    Everything,
}

/// Adds a finding for each value whose adapter is missing.
pub(crate) fn missing(check: &mut Check<'_>, support: Support) {
    if support == Support::Everything {
        return;
    }
    let mut missing = Vec::new();
    for (pattern, when, instead) in THIS_BUILD {
        for pointer in matching(check.json, pattern) {
            let value = check.json.pointer(&pointer).unwrap_or(&Value::Null);
            if !applies(*when, value) {
                continue;
            }
            let (place, word) = (dotted(&pointer), value.as_str().unwrap_or_default());
            let what = if word.is_empty() {
                format!("`{place}`")
            } else {
                format!("`{place}: {word}`")
            };
            let message = format!("this build of cp9 has no adapter for {what}");
            let keyed = matches!(when, When::Present);
            let found = if keyed {
                check.key(Code::ADAPTER, &pointer, message)
            } else {
                check.value(Code::ADAPTER, &pointer, message)
            };
            missing.push(found.help(*instead));
        }
    }
    // Other advice about the same value would lead to a value that is missing all the same.
    check
        .findings
        .retain(|found| missing.iter().all(|other| other.pointer != found.pointer));
    for found in missing {
        check.add(found);
    }
}

fn applies(when: When, value: &Value) -> bool {
    match when {
        When::Is(word) => value.as_str() == Some(word),
        When::Present => !value.is_null(),
        When::GitUrl => value.as_str().is_some_and(is_git_url),
    }
}
