//! Secret inputs, CI claims, registries.

use std::collections::BTreeSet;

use super::names::KINDS;
use crate::config::check::{Check, child, list};
use crate::config::raw::Session;
use crate::diagnostic::Code;

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    let known: BTreeSet<_> = KINDS
        .iter()
        .flat_map(|kind| check.keys(&format!("/services/{kind}")))
        .collect();
    for (service, inputs) in session.secrets.iter().flatten() {
        let pointer = child("/secrets", service);
        if !known.contains(service.as_str()) {
            let found = check.key(
                Code::UNKNOWN_SERVICE,
                &pointer,
                format!("no service `{service}` in this file"),
            );
            let help = match check.near(service, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "declare it below `services`".into(),
                None => format!("known here: {}", list(known.iter().take(20))),
            };
            check.add(found.help(help));
        }
        if check.sound(&pointer)
            && inputs.env_file.is_none()
            && inputs
                .values
                .as_ref()
                .is_none_or(indexmap::IndexMap::is_empty)
        {
            let found = check.key(
                Code::EMPTY,
                &pointer,
                format!("`secrets.{service}` gives no secret"),
            );
            check.add(found.help("add `env_file:` or `values:`, or remove the key"));
        }
        for (name, value) in inputs.values.iter().flatten() {
            variable(check, &child(&child(&pointer, "values"), name), name, value);
        }
    }
    claims(check, session);
    registries(check, session);
}

/// No message here may hold the value.
fn variable(check: &mut Check<'_>, pointer: &str, name: &str, value: &str) {
    if !super::is_env_name(name) {
        let found = check.key(
            Code::VALUE,
            pointer,
            format!("`{name}` is no name of an environment variable"),
        );
        check.add(found.help("use letters, digits and `_`, not starting with a digit"));
    }
    if value.contains('\0') {
        let found = check.key(
            Code::VALUE,
            pointer,
            format!("the value of `{name}` holds a NUL character"),
        );
        check.add(found.help("no program can be given such a value"));
    }
}

fn claims(check: &mut Check<'_>, session: &Session) {
    let Some(allowed) = session
        .ci
        .as_ref()
        .and_then(|ci| ci.owner_allowlist.as_ref())
    else {
        return;
    };
    for principal in allowed.keys() {
        let well_formed = principal.starts_with("arn:") && principal.matches(':').count() >= 5;
        if !well_formed {
            let pointer = child("/ci/owner_allowlist", principal);
            let found = check.key(
                Code::VALUE,
                &pointer,
                format!("`{principal}` is no ARN of a principal"),
            );
            check.add(found.help("write it as `arn:aws:iam::<account>:role/<name>`"));
        }
    }
}

fn registries(check: &mut Check<'_>, session: &Session) {
    for (host, registry) in session.registries.iter().flatten() {
        let ecr = registry.ecr.unwrap_or_default();
        let message = match (registry.docker_config.is_some(), ecr) {
            (true, true) => "has both `docker_config` and `ecr`",
            (false, false) => "has neither `docker_config` nor `ecr`",
            _ => continue,
        };
        let found = check.key(
            Code::COMBINATION,
            &child("/registries", host),
            format!("registry `{host}` {message}"),
        );
        check.add(found.help("give one of the two"));
    }
}
