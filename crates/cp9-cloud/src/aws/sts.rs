//! Who one is, and becoming somebody else: the security token service.

use std::time::Duration;

use cp9_tools::Secret;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::client::Aws;
use super::credentials::SessionCredentials;
use super::error::{AwsError, AwsErrorKind};
use super::protocol::{ApiCall, ApiReply};
use super::retry::CallLimits;

const VERSION: &str = "2011-06-15";
const SESSION_TOKEN: &str = "GetSessionToken";
/// How long credentials last that stand in for keys that do not end.
const PASSING: Duration = Duration::from_hours(1);
/// The longest name of a role session.
const MOST_NAME: usize = 64;

/// Whom the credentials belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerIdentity {
    /// The account's number.
    pub account: String,
    /// The principal.
    pub arn: String,
    /// Its unique id; for a role session followed by the session's name.
    pub user_id: String,
}

/// The wish to act as a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRequest {
    /// The role.
    pub role_arn: String,
    /// The name of the session, which shows in ARNs; characters that AWS refuses become `-`.
    pub session_name: String,
    /// The session's tags.
    pub tags: Vec<(String, String)>,
    /// The keys of the tags that stay when the session assumes a further role.
    pub transitive_tags: Vec<String>,
    /// How long the session lasts; the service's default is an hour.
    pub duration: Option<Duration>,
    /// What the role's trust policy may ask for.
    pub external_id: Option<String>,
}

impl RoleRequest {
    /// A role under a session name, without tags.
    pub fn new(role_arn: impl Into<String>, session_name: impl Into<String>) -> Self {
        Self {
            role_arn: role_arn.into(),
            session_name: session_name.into(),
            tags: Vec::new(),
            transitive_tags: Vec::new(),
            duration: None,
            external_id: None,
        }
    }

    /// Adds a tag to the session.
    #[must_use]
    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.push((key.into(), value.into()));
        self
    }

    /// The call for it.
    pub(crate) fn call(&self) -> ApiCall {
        let mut call = ApiCall::query("sts", VERSION, "AssumeRole")
            .param("RoleArn", &self.role_arn)
            .param("RoleSessionName", session_name(&self.session_name));
        if let Some(duration) = self.duration {
            call = call.param("DurationSeconds", duration.as_secs().to_string());
        }
        if let Some(id) = &self.external_id {
            call = call.param("ExternalId", id);
        }
        for (index, (key, value)) in self.tags.iter().enumerate() {
            let tag = format!("Tags.member.{}", index + 1);
            call = call
                .param(format!("{tag}.Key"), key)
                .param(format!("{tag}.Value"), value);
        }
        for (index, key) in self.transitive_tags.iter().enumerate() {
            call = call.param(format!("TransitiveTagKeys.member.{}", index + 1), key);
        }
        // A second session does no harm.
        call.idempotent(true).limits(CallLimits::PROMPT)
    }
}

/// A name as AWS takes it: letters, digits and `_+=,.@-`, two to 64 of them.
fn session_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_+=,.@-".contains(c);
    let name: String = name
        .chars()
        .map(|c| if allowed(c) { c } else { '-' })
        .take(MOST_NAME)
        .collect();
    if name.len() < 2 {
        format!("cp9-{name}")
    } else {
        name
    }
}

/// Asks whom the credentials belong to. Nobody can be denied this call.
pub async fn caller_identity(aws: &Aws) -> Result<CallerIdentity, AwsError> {
    let call = ApiCall::query("sts", VERSION, "GetCallerIdentity").limits(CallLimits::PROMPT);
    let reply = aws.call(&call).await?;
    let field = |name| {
        let text = reply.text(name).map(str::to_owned);
        text.ok_or_else(|| incomplete(aws, "GetCallerIdentity", name))
    };
    Ok(CallerIdentity {
        account: field("Account")?,
        arn: field("Arn")?,
        user_id: field("UserId")?,
    })
}

/// The wish for credentials of the same principal that end after an hour. Only keys that do not end may
/// have it.
pub(crate) fn session_token() -> ApiCall {
    ApiCall::query("sts", VERSION, SESSION_TOKEN)
        .param("DurationSeconds", PASSING.as_secs().to_string())
        .idempotent(true)
        .limits(CallLimits::PROMPT)
}

/// The credentials in the answer to `AssumeRole`.
pub(crate) fn assumed(
    aws: &Aws,
    role_arn: &str,
    reply: &ApiReply,
) -> Result<SessionCredentials, AwsError> {
    credentials(aws, "AssumeRole", reply, format!("role `{role_arn}`"))
}

/// The credentials in the answer to `GetSessionToken`.
pub(crate) fn passing(aws: &Aws, reply: &ApiReply) -> Result<SessionCredentials, AwsError> {
    credentials(aws, SESSION_TOKEN, reply, "session token".to_owned())
}

fn credentials(
    aws: &Aws,
    operation: &str,
    reply: &ApiReply,
    source: String,
) -> Result<SessionCredentials, AwsError> {
    let field = |name: &str| {
        let text = reply.text(&format!("Credentials.{name}"));
        text.ok_or_else(|| incomplete(aws, operation, name))
    };
    let expires = field("Expiration")?.parse::<Timestamp>();
    Ok(SessionCredentials {
        access_key: Secret::new(field("AccessKeyId")?),
        secret_key: Secret::new(field("SecretAccessKey")?),
        session_token: Some(Secret::new(field("SessionToken")?)),
        expires: Some(expires.map_err(|_| incomplete(aws, operation, "Expiration"))?),
        source,
    })
}

fn incomplete(aws: &Aws, operation: &str, field: &str) -> AwsError {
    AwsError::new(AwsErrorKind::Other, "sts", operation, aws.region())
        .says(format!("the answer has no valid `{field}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_made_fit() {
        assert_eq!(session_name("ann@example.com"), "ann@example.com");
        assert_eq!(session_name("shop / ünit"), "shop----nit");
        assert_eq!(session_name(""), "cp9-");
        assert_eq!(session_name(&"x".repeat(80)).len(), 64);
    }

    #[test]
    fn a_role_request_says_everything() {
        let request = RoleRequest {
            transitive_tags: vec!["cp9-owner".into()],
            duration: Some(Duration::from_mins(15)),
            external_id: Some("e1".into()),
            ..RoleRequest::new("arn:aws:iam::1:role/dev", "ann").tag("cp9-owner", "ann")
        };
        let call = request.call();
        let pairs: Vec<_> = call
            .params
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        assert_eq!(
            pairs,
            [
                "RoleArn=arn:aws:iam::1:role/dev",
                "RoleSessionName=ann",
                "DurationSeconds=900",
                "ExternalId=e1",
                "Tags.member.1.Key=cp9-owner",
                "Tags.member.1.Value=ann",
                "TransitiveTagKeys.member.1=cp9-owner",
            ]
        );
        assert!(call.idempotent);
    }
}
