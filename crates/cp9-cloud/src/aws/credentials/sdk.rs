//! Credentials through the SDK's own chain: keys, profiles, SSO, web identity, containers, EC2.

use std::time::{Duration, SystemTime};

use aws_config::retry::RetryConfig;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_async::time::TimeSource;
use aws_types::os_shim_internal::Fs;
use cp9_tools::{Clock, Secret};
use jiff::Timestamp;

use super::door::{Door, Trouble};
use super::{Profiles, SessionCredentials};
use crate::aws::client::Aws;
use crate::aws::error::{AwsError, AwsErrorKind};

/// For the whole chain, its retries included.
const LIMIT: Duration = Duration::from_secs(10);
/// The most tries of one of its requests.
const ATTEMPTS: u32 = 2;

/// There are no credentials, and why.
pub(super) fn none(why: impl Into<String>) -> AwsError {
    AwsError::new(AwsErrorKind::NoCredentials, "", "", "").says(why)
}

/// The clock passed in, for the SDK.
#[derive(Debug)]
struct Time(Clock);

impl TimeSource for Time {
    fn now(&self) -> SystemTime {
        self.0.now().into()
    }
}

/// Asks the SDK's chain, for the selected profile or another one.
pub(super) async fn load(
    aws: &Aws,
    profiles: &Profiles,
    profile: Option<&str>,
) -> Result<SessionCredentials, AwsError> {
    let door = Door::new(&aws.doors, aws.limits().attempt);
    let region = match aws.region() {
        "" => profiles.region().unwrap_or_default(),
        region => region,
    };
    let config = aws_config::defaults(BehaviorVersion::v2026_01_12())
        .env(profiles.env(profile))
        .fs(Fs::real())
        .http_client(door.clone())
        .time_source(Time(aws.doors.clock.clone()))
        .sleep_impl(TokioSleep::new())
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS))
        .region(Region::new(region.to_owned()));
    let chain = async {
        let config = config.load().await;
        let provider = config.credentials_provider();
        match provider {
            Some(provider) => provider.provide_credentials().await,
            None => Err(CredentialsError::not_loaded_no_source()),
        }
    };
    let result = tokio::select! {
        result = chain => result,
        () = tokio::time::sleep(LIMIT) => Err(CredentialsError::provider_timed_out(LIMIT)),
        () = aws.doors.cancel.cancelled() => {
            return Err(none("interrupted").edit(|f| f.kind = AwsErrorKind::Interrupted));
        }
    };
    match result {
        Ok(credentials) => Ok(taken(&credentials, profiles)),
        Err(error) => Err(failed(aws, profiles, &door, &error)),
    }
}

fn taken(credentials: &Credentials, profiles: &Profiles) -> SessionCredentials {
    let expires = credentials.expiry();
    SessionCredentials {
        access_key: Secret::new(credentials.access_key_id()),
        secret_key: Secret::new(credentials.secret_access_key()),
        session_token: credentials.session_token().map(Secret::new),
        expires: expires.and_then(|at| Timestamp::try_from(at).ok()),
        source: profiles.describe(),
    }
}

fn failed(aws: &Aws, profiles: &Profiles, door: &Door, error: &CredentialsError) -> AwsError {
    let trouble = door.trouble();
    let said = aws.doors.redactor.redact(&chain_of(error));
    let (kind, why) = meaning(error, trouble.as_ref(), profiles, &said);
    let login = profiles.login();
    AwsError::new(kind, "", "", "")
        .says(why)
        .edit(|facts| {
            facts.remedy = match (kind, trouble) {
                (AwsErrorKind::Expired | AwsErrorKind::InvalidCredentials, _) => login,
                (_, Some(Trouble::Unusable { remedy, .. })) => remedy,
                _ => None,
            };
        })
        .caused(said)
}

/// What the SDK's failure means, first of all by what its last request ran into.
fn meaning(
    error: &CredentialsError,
    trouble: Option<&Trouble>,
    profiles: &Profiles,
    said: &str,
) -> (AwsErrorKind, String) {
    use AwsErrorKind as Kind;
    let source = profiles.describe();
    match (error, trouble) {
        (_, Some(Trouble::Silent { address, limit })) => {
            let limit = limit.as_millis();
            (
                Kind::Timeout,
                format!("no answer from `{address}` within {limit} ms"),
            )
        }
        (_, Some(Trouble::Unusable { message, .. })) => (Kind::Config, message.clone()),
        (_, Some(Trouble::Unreachable { address })) => {
            (Kind::Network, format!("cannot reach `{address}`"))
        }
        (_, Some(Trouble::Refused { status })) => refusal(*status, profiles, said),
        (CredentialsError::ProviderTimedOut(limit), _) => {
            let limit = limit.timeout_duration().as_secs();
            (
                Kind::Timeout,
                format!("no credentials from {source} within {limit} s"),
            )
        }
        (CredentialsError::InvalidConfiguration(_), _) => {
            (Kind::Config, format!("{source} cannot be used"))
        }
        _ if profiles.is_sso() => log_in(&source),
        _ => (Kind::NoCredentials, format!("no credentials from {source}")),
    }
}

fn refusal(status: u16, profiles: &Profiles, said: &str) -> (AwsErrorKind, String) {
    let source = profiles.describe();
    let kind = match status {
        429 => AwsErrorKind::Throttled,
        500.. => AwsErrorKind::Server,
        403 if profiles.is_sso() || said.contains("AccessDenied") => AwsErrorKind::Denied,
        _ if profiles.is_sso() => return log_in(&source),
        _ => AwsErrorKind::InvalidCredentials,
    };
    (kind, format!("{source} was refused with status {status}"))
}

fn log_in(source: &str) -> (AwsErrorKind, String) {
    let why = format!("the log-in of {source} has expired or is missing");
    (AwsErrorKind::Expired, why)
}

/// The whole chain of causes as one text, because the SDK's own errors may print values that only
/// the redactor knows as secret.
fn chain_of(error: &CredentialsError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}
