//! The generated patch layer as a person reads it: what cp9 sets on top of the manifests.

use serde_json::{Map, Value, json};

use super::context::Context;
use super::declared::adds_secret;
use super::environment::{Origin, Variables};

/// The patch of one service, in strategic-merge form.
pub(crate) fn build(context: &Context<'_>, links: &Variables, variables: &Variables) -> Value {
    let manifest = context.workload.manifest;
    let labels = labels(context);
    let mut container = Map::new();
    container.insert("name".to_owned(), context.workload.name.into());
    if adds_secret(context) {
        container.insert(
            "envFrom".to_owned(),
            json!([{"secretRef": {"name": context.name()}}]),
        );
    }
    container.insert("env".to_owned(), env(context, links, variables));
    json!({
        "apiVersion": manifest.text("/apiVersion"),
        "kind": manifest.kind(),
        "metadata": {
            "name": manifest.name(),
            "namespace": context.session.scope.session,
            "labels": labels,
            "annotations": endpoints(context),
        },
        "spec": {"template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [container]},
        }},
    })
}

fn labels(context: &Context<'_>) -> Value {
    json!({
        "cp9-owner": label(context.session.scope.owner.as_str()),
        "cp9-session": context.session.scope.session,
    })
}

/// A label's value may hold less than an owner: `alice@example.com` has no place in one.
fn label(owner: &str) -> String {
    let clean: String = owner
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    clean
        .chars()
        .take(63)
        .collect::<String>()
        .trim_matches(|c: char| !c.is_ascii_alphanumeric())
        .to_owned()
}

fn endpoints(context: &Context<'_>) -> Value {
    let allocated = context.allocated();
    let endpoint = |(container, host): (&u16, &u16)| {
        (
            format!("cp9/endpoint-{container}"),
            Value::from(format!("127.0.0.1:{host}")),
        )
    };
    Value::Object(allocated.iter().map(endpoint).collect())
}

fn env(context: &Context<'_>, links: &Variables, variables: &Variables) -> Value {
    let scope = context.session.scope.env();
    let set = |name: &str| {
        let variable = variables.get(name)?;
        let ours = matches!(variable.origin, Origin::Patch | Origin::Session)
            || variable.origin == Origin::Fixed
                && (links.contains_key(name)
                    || name.starts_with("AWS_")
                    || scope.iter().any(|(key, _)| *key == name));
        (ours && !variable.secret).then(|| json!({"name": name, "value": variable.value}))
    };
    variables.keys().filter_map(|name| set(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_become_labels() {
        assert_eq!(label("alice@example.com"), "alice-example.com");
        assert_eq!(label("@@"), "");
    }
}
