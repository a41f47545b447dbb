//! What to do about a failed call, where the call itself does not know better.

use super::{AwsErrorKind, Facts};

/// What to type or change.
pub(super) fn of(facts: &Facts) -> Option<String> {
    let action = format!("{}:{}", iam_prefix(&facts.service), facts.operation);
    let text = match facts.kind {
        AwsErrorKind::Denied => format!("allow `{action}` in the policy of the principal"),
        AwsErrorKind::Expired => "log in again, or renew the credentials in the environment".into(),
        AwsErrorKind::InvalidCredentials => {
            "check the access key, or log in again with `aws sso login`".into()
        }
        AwsErrorKind::NoCredentials => {
            "name a profile as `target.cloud.aws.iam.profile` or in `AWS_PROFILE`, and log in with \
             `aws sso login`"
                .into()
        }
        AwsErrorKind::Skew => {
            "set the clock of this machine, for example with `timedatectl set-ntp true`".into()
        }
        AwsErrorKind::Timeout | AwsErrorKind::Network => format!(
            "check the connection to `{}` in `{}`, and HTTPS_PROXY, NO_PROXY and AWS_ENDPOINT_URL",
            facts.service, facts.region
        ),
        AwsErrorKind::Throttled | AwsErrorKind::Server => "run the command again later".into(),
        _ => return None,
    };
    Some(text)
}

/// The word of a service in IAM actions, where it is not that of its endpoint.
fn iam_prefix(service: &str) -> &str {
    match service {
        "api.ecr" => "ecr",
        "api.ecr-public" => "ecr-public",
        "monitoring" => "cloudwatch",
        "tagging" => "tag",
        "email" => "ses",
        "portal.sso" => "sso",
        other => other,
    }
}
