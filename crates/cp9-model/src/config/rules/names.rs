//! Names: the session's, the services', those of objects and containers.

use std::collections::BTreeSet;

use crate::config::check::{Check, child};
use crate::config::paths;
use crate::config::raw::Session;
use crate::diagnostic::Code;
use crate::explain::Explain;
use crate::name::{ServiceName, SessionName};

/// The three blocks of services.
pub(in crate::config) const KINDS: [&str; 3] = ["source", "live", "stub"];

/// What the names of a built service's further resources end in.
const RESOURCES: [&str; 3] = ["-live-binary", "-image", "-remote-rollout"];

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    session_name(check, &session.name);
    for kind in KINDS {
        let block = format!("/services/{kind}");
        for name in check.keys(&block) {
            if let Err(error) = name.parse::<ServiceName>() {
                let found = check.key(Code::NAME, &child(&block, name), error.to_string());
                check.add(found.help(error.remedy().unwrap_or_default()));
            }
        }
    }
    resource_names(check);
    for pattern in ["/services/source/*/app/name", "/services/live/*/app/name"] {
        object_names(check, pattern);
    }
}

fn session_name(check: &mut Check<'_>, name: &str) {
    let found = if let Some(variable) = paths::variables(name).next() {
        let message = format!("`{variable}` is not replaced in `name`");
        check
            .value(Code::NAME, "/name", message)
            .help("write the session's name in full")
    } else if let Err(error) = name.parse::<SessionName>() {
        check
            .value(Code::NAME, "/name", error.to_string())
            .help(error.remedy().unwrap_or_default())
    } else {
        return;
    };
    check.add(found);
}

/// A service must not be called like a resource of another one.
fn resource_names(check: &mut Check<'_>) {
    let built: BTreeSet<String> = check
        .keys("/services/source")
        .into_iter()
        .map(str::to_owned)
        .collect();
    for kind in KINDS {
        let block = format!("/services/{kind}");
        let names: Vec<String> = check.keys(&block).into_iter().map(str::to_owned).collect();
        for name in names {
            let of = RESOURCES.iter().find_map(|end| name.strip_suffix(end));
            let Some(other) = of.filter(|other| built.contains(*other)) else {
                continue;
            };
            let message = format!("`{name}` is also the name of a resource of service `{other}`");
            let found = check.key(Code::NAME, &child(&block, &name), message);
            check.add(found.help("give the service another name"));
        }
    }
}

fn object_names(check: &mut Check<'_>, pattern: &str) {
    for pointer in paths::matching(check.json, pattern) {
        let name = check
            .json
            .pointer(&pointer)
            .and_then(serde_json::Value::as_str);
        let Some(name) = name.filter(|name| !is_object_name(name)) else {
            continue;
        };
        let found = check.value(
            Code::NAME,
            &pointer,
            format!("`{name}` is no name of a Kubernetes object"),
        );
        check.add(found.help("use lower-case letters, digits, `-` and `.`"));
    }
}

fn is_object_name(name: &str) -> bool {
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 253
        && name.starts_with(ends)
        && name.ends_with(ends)
        && name.chars().all(|c| ends(c) || c == '-' || c == '.')
}
