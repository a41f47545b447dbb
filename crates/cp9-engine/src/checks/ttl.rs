//! How long the session has not been used, against `host.ttl`.

use cp9_model::report::doctor::Finding;
use jiff::Timestamp;

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "ttl";

/// Last use and limit.
#[derive(Debug)]
pub(super) struct Facts {
    session: String,
    last_active: Timestamp,
    ttl_seconds: u64,
    /// The limit as written.
    ttl: String,
    now: Timestamp,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let (folder, disk) = context.needs_session()?;
    let host = disk.config.as_ref().map(|config| &config.host);
    let ttl_seconds = host.and_then(|host| host.ttl_seconds);
    let doors = &context.engine.doors;
    Ok(Facts {
        session: folder.name.clone(),
        ttl_seconds: ttl_seconds.ok_or("no `host.ttl` in the session file")?,
        ttl: host.and_then(|host| host.ttl.clone()).unwrap_or_default(),
        last_active: doors
            .modified(&folder.last_active())
            .ok_or("the session was never used")?,
        now: doors.clock.now(),
    })
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let idle = facts.now.duration_since(facts.last_active).as_secs();
    let ttl = i64::try_from(facts.ttl_seconds).unwrap_or(i64::MAX);
    let (session, limit) = (&facts.session, &facts.ttl);
    let finding = if idle > ttl {
        let text = format!(
            "session `{session}` was last used {} and has a `host.ttl` of {limit}",
            facts.last_active
        );
        Finding::warning(CHECK, "ttl-expired", text)
            .remedy("`cp9 up` goes on with it, `cp9 destroy` removes it")
    } else {
        let text = format!("session `{session}` was used within its `host.ttl` of {limit}");
        Finding::ok(CHECK, "ttl", text)
    };
    vec![finding.about(session)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn judged(last: &str, ttl_seconds: u64) -> (String, Severity) {
        let facts = Facts {
            session: "demo".into(),
            last_active: last.parse().expect("a time"),
            ttl_seconds,
            ttl: "8h".into(),
            now: "2026-01-02T12:00:00Z".parse().expect("a time"),
        };
        let found = judge(&facts).remove(0);
        (found.id, found.severity)
    }

    #[test]
    fn a_session_expires_after_its_last_use() {
        let hours = 8 * 3600;
        let fresh = judged("2026-01-02T04:00:00Z", hours);
        assert_eq!(fresh, ("ttl".to_owned(), Severity::Ok));
        let expired = judged("2026-01-02T03:59:59Z", hours);
        assert_eq!(expired, ("ttl-expired".to_owned(), Severity::Warning));
        assert_eq!(
            judged("2026-01-03T00:00:00Z", hours).1,
            Severity::Ok,
            "a clock that was set back"
        );
        assert_eq!(judged("1990-01-01T00:00:00Z", u64::MAX).1, Severity::Ok);
    }
}
