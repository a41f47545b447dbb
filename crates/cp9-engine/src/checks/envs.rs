//! Services whose application comes from another environment than the session's. That is allowed, and
//! worth seeing.

use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "envs";

/// The session's environment, and that of each service.
#[derive(Debug)]
pub(super) struct Facts {
    session: String,
    services: Vec<(String, String)>,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let config = context.needs_config()?;
    let delivery = config.app_delivery.as_ref();
    let session = delivery.map(|delivery| delivery.env.clone());
    let source = config.services.source.iter();
    let source = source.map(|(name, service)| (name, &service.app));
    let live = config.services.live.iter();
    let live = live.map(|(name, service)| (name, &service.app));
    Ok(Facts {
        session: session.ok_or("no `appDelivery` in the session file")?,
        services: source
            .chain(live)
            .map(|(name, app)| (name.to_string(), app.env.clone()))
            .collect(),
    })
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let other = facts.services.iter();
    let other = other.filter(|(_, env)| *env != facts.session);
    let findings: Vec<Finding> = other
        .map(|(service, env)| {
            let text = format!(
                "service `{service}` takes its application from env `{env}`, the session is `{}`",
                facts.session
            );
            Finding::shown(CHECK, "env-differs", text).about(service)
        })
        .collect();
    if findings.is_empty() {
        let text = format!("every service is of env `{}`", facts.session);
        return vec![Finding::ok(CHECK, "env-same", text)];
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_environment_is_shown() {
        let facts = Facts {
            session: "dev".into(),
            services: vec![("a".into(), "dev".into()), ("b".into(), "staging".into())],
        };
        let found = judge(&facts);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].id.as_str(), found[0].shown),
            ("env-differs", true)
        );
        assert_eq!(found[0].subject.as_deref(), Some("b"));
    }
}
