//! The environment of a process as the kubelet would make it, with what cp9 adds: fixed values
//! first, then `envFrom`, `env`, the session's identity on AWS, the generated patch, `run.env` and the scope.

use indexmap::IndexMap;
use serde_json::Value;

use super::aws;
use super::context::{Context, Notes};
use super::declared::declared;
use super::names::Names;
use super::workload::named;
use crate::nearest::quoted;
use crate::problem;

/// Folders of programs on every Unix that the project knows.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin";

/// Where a variable comes from, which decides what is done with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// cp9: taken as it is.
    Fixed,
    /// The manifests.
    Manifest,
    /// The generated patch.
    Patch,
    /// `run.env`: may speak of the plan's roots.
    Session,
}

/// A variable before its value is rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its value.
    pub value: String,
    /// True if any part of it comes from a Secret.
    pub secret: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// Variables by name; a later one replaces an earlier one.
pub(crate) type Variables = IndexMap<String, Variable>;

impl Variable {
    /// A variable that is no secret.
    pub(crate) fn plain(value: impl Into<String>, origin: Origin) -> Self {
        Self {
            value: value.into(),
            secret: false,
            origin,
        }
    }
}

/// Every variable of the process, later ones winning over earlier ones.
pub(crate) fn assemble(context: &Context<'_>, names: &Names, notes: &mut Notes) -> Variables {
    let links = links(context, names);
    let mut variables = base(context.name());
    variables.extend(links.clone());
    variables.extend(declared(context, &links, notes));
    aws::identify(context, &mut variables, notes);
    variables.extend(patched(context, notes));
    let own = context
        .run
        .env
        .iter()
        .map(|(name, value)| (name.clone(), Variable::plain(value, Origin::Session)));
    variables.extend(own);
    let scope = context
        .session
        .scope
        .env()
        .map(|(name, value)| (name.to_owned(), Variable::plain(value, Origin::Fixed)));
    variables.extend(scope);
    variables
}

/// What every process of the session starts from.
pub(crate) fn base(service: &str) -> Variables {
    let private = |folder: &str| format!("${{session}}/run/{service}/{folder}");
    [
        ("PATH", PATH.to_owned()),
        ("HOME", private("home")),
        ("TMPDIR", private("tmp")),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), Variable::plain(value, Origin::Fixed)))
    .into()
}

/// `<NAME>_SERVICE_HOST` and `<NAME>_SERVICE_PORT` of every Service of the session.
pub(crate) fn links(context: &Context<'_>, names: &Names) -> Variables {
    let mut links = Variables::new();
    if context
        .workload
        .manifest
        .value
        .pointer("/spec/template/spec/enableServiceLinks")
        == Some(&Value::Bool(false))
    {
        return links;
    }
    for (name, endpoint) in names.iter() {
        let prefix = name.to_uppercase().replace(['-', '.'], "_");
        let mut add = |suffix: String, value: String| {
            links.insert(
                format!("{prefix}_SERVICE_{suffix}"),
                Variable::plain(value, Origin::Fixed),
            );
        };
        let first = endpoint
            .any
            .or_else(|| endpoint.ports.first().and_then(|(_, host)| *host));
        let Some(first) = first else { continue };
        add("HOST".to_owned(), "127.0.0.1".to_owned());
        add("PORT".to_owned(), first.to_string());
        for (port, host) in &endpoint.ports {
            if let (Some(name), Some(host)) = (&port.name, host) {
                add(
                    format!("PORT_{}", name.to_uppercase().replace('-', "_")),
                    host.to_string(),
                );
            }
        }
    }
    links
}

/// What the generated patch sets: the variables of `run.ports`.
pub(crate) fn patched(context: &Context<'_>, notes: &mut Notes) -> Variables {
    let mut patched = Variables::new();
    let allocated = context.allocated();
    for (port, variable) in &context.run.ports {
        let number = named(&context.ports, port).filter(|number| allocated.contains_key(number));
        let Some(number) = number else {
            let known: Vec<String> = context
                .ports
                .iter()
                .map(|port| port.name.clone().unwrap_or_else(|| port.number.to_string()))
                .collect();
            notes.problems.push(context.session_problem(
                problem::PORT,
                &format!("/run/ports/{}", problem::token(port)),
                format!("service `{}` has no port `{port}`", context.name()),
                format!(
                    "ports of its container: {}",
                    quoted(known.iter().map(String::as_str))
                ),
            ));
            continue;
        };
        notes.ports.insert(number);
        patched.insert(
            variable.clone(),
            Variable::plain(allocated[&number].to_string(), Origin::Patch),
        );
    }
    patched
}
