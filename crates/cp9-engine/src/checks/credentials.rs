//! How long the credentials last, against how long the session may live.

use cp9_model::report::doctor::Finding;

use super::identity::Facts;

/// The check's name.
pub(super) const CHECK: &str = "credentials";

/// Judges the rest of their life.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let Ok(proof) = &facts.proof else {
        return Vec::new();
    };
    // A role that cp9 assumes is assumed again, until what it is assumed with ends.
    let (what, expires) = if proof.session_tags {
        let what = format!("what `{}` is assumed with", proof.principal);
        (what, proof.caller_expires)
    } else {
        (proof.credentials.clone(), proof.expires)
    };
    let Some(expires) = expires else {
        let text = format!("{what} does not expire");
        return vec![Finding::ok(CHECK, "credentials", text)];
    };
    let left = expires.duration_since(facts.now).as_secs();
    let minutes = left / 60;
    let text = format!("{what} lasts {minutes} more minutes");
    let ttl = facts.ttl_seconds.and_then(|ttl| i64::try_from(ttl).ok());
    vec![match ttl {
        Some(ttl) if left < ttl => Finding::warning(
            CHECK,
            "credentials-short",
            format!("{text}, less than `host.ttl`"),
        )
        .remedy("sign in again before they end, or choose a shorter `host.ttl`"),
        _ => Finding::ok(CHECK, "credentials", text),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::identity::tests::facts;
    use super::*;

    fn id(expires: Option<&str>, ttl: Option<u64>, renewed: bool) -> String {
        let mut facts = facts(expires, 0, ttl);
        if let Ok(proof) = &mut facts.proof {
            proof.session_tags = renewed;
            proof.caller_expires = "2026-01-02T16:00:00Z".parse().ok().filter(|_| renewed);
        }
        judge(&facts).remove(0).id
    }

    #[test]
    fn credentials_that_end_before_the_session_are_told() {
        let soon = Some("2026-01-02T13:00:00Z");
        assert_eq!(id(soon, Some(8 * 3600), false), "credentials-short");
        assert_eq!(
            id(soon, Some(3 * 3600), true),
            "credentials",
            "cp9 renews the role"
        );
        assert_eq!(
            id(soon, Some(8 * 3600), true),
            "credentials-short",
            "until what it is assumed with ends"
        );
        assert_eq!(id(soon, Some(1800), false), "credentials");
        assert_eq!(id(soon, None, false), "credentials");
        assert_eq!(id(None, Some(8 * 3600), false), "credentials");
    }
}
