//! Every user override, each shown: those in force, or before the first `up` those declared.

use cp9_model::report::doctor::Finding;
use serde_json::Value;

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "overrides";

/// Overrides by service.
#[derive(Debug)]
pub(super) struct Facts {
    /// True if they were rendered, false if they are only declared.
    in_force: bool,
    overrides: Vec<(String, String)>,
}

/// Reads them from the context report, else from the session file.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    if let Some(report) = &context.report {
        let services = report.services.iter();
        let overrides = services.flat_map(|service| {
            let all = service.overrides.iter();
            all.map(|value| (service.name.clone(), word(value)))
        });
        return Ok(Facts {
            in_force: true,
            overrides: overrides.collect(),
        });
    }
    let services = &context.needs_config()?.services;
    let source = services.source.iter();
    let source = source.map(|(name, service)| (name, &service.overrides));
    let live = services.live.iter();
    let live = live.map(|(name, service)| (name, &service.overrides));
    let overrides = source.chain(live).flat_map(|(name, files)| {
        let files = files.iter();
        files.map(move |file| (name.to_string(), format!("`{file}`")))
    });
    Ok(Facts {
        in_force: false,
        overrides: overrides.collect(),
    })
}

/// An override in a line: a text as it is, an object by its fields.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        Value::Object(fields) => {
            let shown = fields.iter().filter(|(_, value)| !value.is_null());
            let shown = shown.map(|(key, value)| match value {
                Value::String(text) => format!("{key} `{text}`"),
                other => format!("{key} {other}"),
            });
            shown.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    if facts.overrides.is_empty() {
        return vec![Finding::ok(CHECK, "overrides-none", "no override")];
    }
    let (id, what) = if facts.in_force {
        ("override", "override in force")
    } else {
        ("override-declared", "override declared")
    };
    let overrides = facts.overrides.iter();
    overrides
        .map(|(service, text)| {
            Finding::shown(CHECK, id, format!("{what} for service `{service}`: {text}"))
                .about(service)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_override_is_shown() {
        let facts = Facts {
            in_force: true,
            overrides: vec![
                ("api".into(), word(&json!("a.yaml"))),
                (
                    "api".into(),
                    word(
                        &json!({"file": "b.yaml", "target": "Deployment/api", "line": 3, "note": null}),
                    ),
                ),
            ],
        };
        let found = judge(&facts);
        assert!(
            found
                .iter()
                .all(|finding| finding.shown && finding.id == "override")
        );
        assert_eq!(
            found[0].finding,
            "override in force for service `api`: `a.yaml`"
        );
        let second =
            "override in force for service `api`: file `b.yaml`, target `Deployment/api`, line 3";
        assert_eq!(found[1].finding, second);
    }

    #[test]
    fn none_is_said_too() {
        let none = Facts {
            in_force: true,
            overrides: Vec::new(),
        };
        assert_eq!(judge(&none)[0].id, "overrides-none");
    }
}
