//! `envFrom` and `env` of the container, as the kubelet reads them.

use cp9_model::Diagnostic;
use serde_json::Value;

use super::context::{Context, Notes};
use super::environment::{Origin, Variable, Variables};
use super::expand::expand;
use super::fields;
use super::objects::{Content, Keys};
use crate::nearest::quoted;
use crate::problem;

/// `envFrom` and `env` of the container.
pub(crate) fn declared(context: &Context<'_>, links: &Variables, notes: &mut Notes) -> Variables {
    let mut declared = Variables::new();
    let at = format!("{}/envFrom", context.workload.at);
    for (index, from) in context.workload.manifest.list(&at).iter().enumerate() {
        match from_object(context, from, &format!("{at}/{index}"), notes) {
            Ok(found) => declared.extend(found),
            Err(found) => notes.problems.push(*found),
        }
    }
    if adds_secret(context) {
        let keys = context.objects.secret(context.name()).unwrap_or_default();
        declared.extend(variables(context, keys, "", true, notes));
    }
    let at = format!("{}/env", context.workload.at);
    for (index, variable) in context.workload.manifest.list(&at).iter().enumerate() {
        match one(
            context,
            variable,
            &format!("{at}/{index}"),
            links,
            &declared,
        ) {
            Ok(Some((name, variable))) => drop(declared.insert(name, variable)),
            Ok(None) => {}
            Err(found) => notes.problems.push(*found),
        }
    }
    declared
}

/// True when the session file has secrets for the service and no manifest refers to Secret `<svc>`.
pub(crate) fn adds_secret(context: &Context<'_>) -> bool {
    let mine = |value: &Value| value.as_str() == Some(context.name());
    let volume = |volume: &Value| {
        let projected = volume["projected"]["sources"].as_array();
        mine(&volume["secret"]["secretName"])
            || projected
                .into_iter()
                .flatten()
                .any(|source| mine(&source["secret"]["name"]))
    };
    let container = context.workload.container;
    let listed = |field: &str| {
        container
            .get(field)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let refers = listed("envFrom").any(|from| mine(&from["secretRef"]["name"]))
        || listed("env").any(|variable| mine(&variable["valueFrom"]["secretKeyRef"]["name"]))
        || context
            .workload
            .manifest
            .list("/spec/template/spec/volumes")
            .iter()
            .any(volume);
    context.session.secrets.contains_key(&context.node.name) && !refers
}

fn from_object(
    context: &Context<'_>,
    from: &Value,
    at: &str,
    notes: &mut Notes,
) -> Result<Variables, Box<Diagnostic>> {
    let prefix = from["prefix"].as_str().unwrap_or_default();
    for (field, secret) in [("configMapRef", false), ("secretRef", true)] {
        let reference = &from[field];
        if reference.is_null() {
            continue;
        }
        let keys = object(context, reference, secret, &format!("{at}/{field}"))?;
        return Ok(variables(
            context,
            keys.unwrap_or_default(),
            prefix,
            secret,
            notes,
        ));
    }
    let help = "use `configMapRef` or `secretRef`";
    Err(Box::new(context.problem(
        problem::ENV,
        at,
        "`envFrom` entry refers to no ConfigMap and no Secret",
        help,
    )))
}

/// The keys of a referenced object; none if it is missing and optional.
fn object(
    context: &Context<'_>,
    reference: &Value,
    secret: bool,
    at: &str,
) -> Result<Option<Keys>, Box<Diagnostic>> {
    let name = reference["name"].as_str().unwrap_or_default();
    let keys = if secret {
        context.objects.secret(name)
    } else {
        context.objects.config_map(name)
    };
    if keys.is_some() || reference["optional"] == Value::Bool(true) {
        return Ok(keys);
    }
    let kind = if secret { "Secret" } else { "ConfigMap" };
    let help = if secret {
        format!(
            "add a Secret `{name}` to the app's folder, or give service `{}` its values under `secrets` and name the Secret so",
            context.name()
        )
    } else {
        format!("add a ConfigMap `{name}` to the app's folder, or set `optional: true`")
    };
    Err(Box::new(context.problem(
        problem::ENV,
        at,
        format!("{kind} `{name}` is not in the manifests of this session"),
        help,
    )))
}

/// Every key as a variable; keys that are no variable name are left out, as the kubelet does.
fn variables(
    context: &Context<'_>,
    keys: Keys,
    prefix: &str,
    secret: bool,
    notes: &mut Notes,
) -> Variables {
    let mut found = Variables::new();
    for (key, content) in keys {
        let name = format!("{prefix}{key}");
        match content {
            Content::Text(value) if is_name(&name) && !value.contains('\0') => {
                found.insert(
                    name,
                    Variable {
                        value,
                        secret,
                        origin: Origin::Manifest,
                    },
                );
            }
            _ => notes.remarks.push(format!(
                "key `{key}` of `envFrom` is no variable and is left out of service `{}`",
                context.name()
            )),
        }
    }
    found
}

/// What the kubelet takes as a variable's name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '=')
}

type Named = Option<(String, Variable)>;

fn one(
    context: &Context<'_>,
    variable: &Value,
    at: &str,
    links: &Variables,
    so_far: &Variables,
) -> Result<Named, Box<Diagnostic>> {
    let wrong = |rest: &str, message: String, help: &str| {
        Err(Box::new(context.problem(
            problem::ENV,
            &format!("{at}{rest}"),
            message,
            help,
        )))
    };
    let name = variable["name"].as_str().unwrap_or_default();
    if !is_name(name) {
        return wrong(
            "/name",
            format!("`{name}` is no name of a variable"),
            "use letters, digits and `_`",
        );
    }
    let text = match &variable["value"] {
        Value::Null => "",
        Value::String(text) => text,
        _ => {
            let message = format!("the value of `{name}` is not text");
            return wrong(
                "/value",
                message,
                "put it in quotes, as a cluster would ask too",
            );
        }
    };
    if !text.is_empty() {
        let (value, secret) = expanded(text, links, so_far);
        return Ok(Some((
            name.to_owned(),
            Variable {
                value,
                secret,
                origin: Origin::Manifest,
            },
        )));
    }
    if variable["valueFrom"].is_null() {
        return Ok(Some((
            name.to_owned(),
            Variable::plain("", Origin::Manifest),
        )));
    }
    let found = value_from(
        context,
        name,
        &variable["valueFrom"],
        &format!("{at}/valueFrom"),
    )?;
    Ok(found.map(|variable| (name.to_owned(), variable)))
}

/// A text with its references replaced, and whether any of them was secret.
pub(crate) fn expanded(text: &str, links: &Variables, so_far: &Variables) -> (String, bool) {
    let mut secret = false;
    let value = expand(text, |name| {
        let found = so_far.get(name).or_else(|| links.get(name))?;
        secret |= found.secret;
        Some(found.value.clone())
    });
    (value, secret)
}

fn value_from(
    context: &Context<'_>,
    name: &str,
    from: &Value,
    at: &str,
) -> Result<Option<Variable>, Box<Diagnostic>> {
    for (field, secret) in [("configMapKeyRef", false), ("secretKeyRef", true)] {
        if !from[field].is_null() {
            return key(context, &from[field], secret, &format!("{at}/{field}"));
        }
    }
    let wrong = |message: String, help: String| {
        Err(Box::new(context.problem(problem::ENV, at, message, help)))
    };
    if from["fieldRef"].is_null() {
        let kinds: Vec<&str> = from
            .as_object()
            .into_iter()
            .flatten()
            .map(|(kind, _)| kind.as_str())
            .collect();
        return wrong(
            format!(
                "variable `{name}` takes its value from {}, which a process does not have",
                quoted(kinds)
            ),
            format!("set `run.env.{name}` of service `{}`", context.name()),
        );
    }
    let path = from["fieldRef"]["fieldPath"].as_str().unwrap_or_default();
    match fields::value(context, path) {
        Some(value) => Ok(Some(Variable::plain(value, Origin::Manifest))),
        None => wrong(
            format!("variable `{name}` takes field `{path}`, which a process does not have"),
            format!("fields with a local value: {}", fields::KNOWN),
        ),
    }
}

fn key(
    context: &Context<'_>,
    reference: &Value,
    secret: bool,
    at: &str,
) -> Result<Option<Variable>, Box<Diagnostic>> {
    let Some(keys) = object(context, reference, secret, at)? else {
        return Ok(None);
    };
    let key = reference["key"].as_str().unwrap_or_default();
    let (kind, name) = (
        if secret { "Secret" } else { "ConfigMap" },
        reference["name"].as_str().unwrap_or_default(),
    );
    let wrong = |message: String, help: String| {
        Err(Box::new(context.problem(
            problem::ENV,
            &format!("{at}/key"),
            message,
            help,
        )))
    };
    match keys.get(key) {
        Some(Content::Text(value)) if !value.contains('\0') => {
            Ok(Some(Variable { value: value.clone(), secret, origin: Origin::Manifest }))
        }
        Some(_) => wrong(
            format!("key `{key}` of {kind} `{name}` is no text"),
            "a variable needs text; numbers and flags stand in quotes, `data` of a Secret is base64".to_owned(),
        ),
        None if reference["optional"] == Value::Bool(true) => Ok(None),
        None => wrong(
            format!("{kind} `{name}` has no key `{key}`"),
            format!("keys there: {}", quoted(keys.keys().map(String::as_str))),
        ),
    }
}
