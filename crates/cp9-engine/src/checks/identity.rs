//! Who the session would be on its cloud: account, role and rights are proven as `up` proves them, and
//! nothing is made.

use cp9_cloud::aws::AwsProof;
use cp9_model::config::resolved::CloudName;
use cp9_model::report::doctor::Finding;
use jiff::{SignedDuration, Timestamp};

use super::context::Context;
use super::sheet::Gathered;
use crate::commands::setup;

/// The check's name.
pub(super) const CHECK: &str = "identity";

/// What the proof brought, for this check and those about credentials and the clock.
#[derive(Debug)]
pub(super) struct Facts {
    /// What AWS proved, or why it did not: a code, a message, a remedy.
    pub(super) proof: Result<AwsProof, Failure>,
    /// How far this machine's clock is from that of AWS.
    pub(super) clock: Option<SignedDuration>,
    /// Now.
    pub(super) now: Timestamp,
    /// `host.ttl` in seconds.
    pub(super) ttl_seconds: Option<u64>,
}

/// Why a proof failed.
#[derive(Debug)]
pub(super) struct Failure {
    code: &'static str,
    message: String,
    remedy: Option<String>,
}

/// Asks the cloud.
pub(super) async fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let config = context.needs_config()?;
    if config.target.cloud != CloudName::Aws {
        return Err("nothing outside this machine is written to".into());
    }
    let engine = context.engine;
    let proven = Box::pin(setup::prove(engine, Some(config))).await;
    let clock = proven.as_ref().ok().map(|proven| proven.clock);
    let proof = match proven {
        Ok(proven) => proven.aws.ok_or("nothing was asked of AWS")?,
        Err(error) => {
            let failure = Failure {
                code: error.source.code(),
                message: engine.doors.redactor.redact(&error.told()),
                remedy: error.source.remedy(),
            };
            return Ok(facts(context, Err(failure), clock, config.host.ttl_seconds));
        }
    };
    Ok(facts(context, Ok(proof), clock, config.host.ttl_seconds))
}

fn facts(
    context: &Context<'_>,
    proof: Result<AwsProof, Failure>,
    clock: Option<SignedDuration>,
    ttl_seconds: Option<u64>,
) -> Facts {
    Facts {
        proof,
        clock,
        now: context.engine.doors.clock.now(),
        ttl_seconds,
    }
}

/// Judges who that is.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    vec![match &facts.proof {
        Ok(proof) => {
            let text = format!(
                "account {} in {} as {}, and what a destroy needs is allowed",
                proof.account, proof.region, proof.principal
            );
            Finding::ok(CHECK, "identity", text).about(&proof.account)
        }
        Err(failure) => {
            let id = format!("identity-{}", failure.code);
            let finding = Finding::error(CHECK, &id, failure.message.clone());
            match &failure.remedy {
                Some(remedy) => finding.remedy(remedy),
                None => finding,
            }
        }
    }]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use cp9_model::identity::OwnerSource;
    use cp9_model::report::doctor::Severity;

    pub(in crate::checks) fn facts(expires: Option<&str>, clock: i64, ttl: Option<u64>) -> Facts {
        let arn = "arn:aws:sts::123456789012:assumed-role/dev/ann@example.com";
        Facts {
            proof: Ok(AwsProof {
                account: "123456789012".into(),
                region: "us-west-2".into(),
                partition: "aws".into(),
                caller: arn.parse().expect("an ARN"),
                principal: arn.parse().expect("an ARN"),
                owner_source: OwnerSource::Sso,
                credentials: "profile `dev`".into(),
                expires: expires.map(|at| at.parse().expect("a time")),
                caller_expires: None,
                session_tags: true,
            }),
            clock: Some(SignedDuration::from_secs(clock)),
            now: "2026-01-02T12:00:00Z".parse().expect("a time"),
            ttl_seconds: ttl,
        }
    }

    #[test]
    fn a_failed_proof_is_an_error_with_its_remedy() {
        let good = judge(&facts(None, 0, None)).remove(0);
        assert_eq!(good.severity, Severity::Ok);
        assert!(good.finding.contains("123456789012"));
        let failed = Facts {
            proof: Err(Failure {
                code: "account-not-allowed",
                message: "not this one".into(),
                remedy: Some("another".into()),
            }),
            ..facts(None, 0, None)
        };
        let bad = judge(&failed).remove(0);
        assert_eq!(
            (bad.id.as_str(), bad.severity),
            ("identity-account-not-allowed", Severity::Error)
        );
        assert_eq!(bad.remedy.as_deref(), Some("another"));
    }
}
