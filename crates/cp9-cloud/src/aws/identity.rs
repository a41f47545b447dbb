//! Who the credentials of this process are, and so who a session belongs to.

use std::collections::BTreeMap;

use cp9_model::identity::{
    AccountError, Accounts, Arn, ArnError, Claim, OwnerError, OwnerSource, login,
};
use cp9_model::{Category, Explain, Owner};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::client::Aws;
use super::error::{AwsError, AwsErrorKind};
use super::sts::caller_identity;

/// Why identity or rights are not proven.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// Nobody can be told from the credentials.
    #[error("cannot tell who the credentials{} belong to", of_profile(.profile.as_deref()))]
    Caller {
        /// The profile that was used.
        profile: Option<String>,
        /// Why.
        #[source]
        source: AwsError,
    },
    /// AWS named a principal that is none.
    #[error("AWS names a principal that cannot be read")]
    Principal(#[source] ArnError),
    /// No owner.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    /// Not an account to write to.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The role cannot be assumed.
    #[error("`{principal}` cannot assume `{role}` with tags `cp9-owner` and `cp9-session`")]
    Assume {
        /// Who tried.
        principal: Arn,
        /// The role.
        role: Arn,
        /// Why.
        #[source]
        source: AwsError,
    },
    /// The role became somebody else than it names.
    #[error("`{role}` was assumed, yet AWS names `{principal}`")]
    OtherRole {
        /// The role.
        role: Arn,
        /// Who AWS names.
        principal: Arn,
    },
    /// A session tag is asked for that cp9 has no value for.
    #[error("there is no value for session tag `{tag}` of `target.aws.iam.session_tags`")]
    Tag {
        /// The tag.
        tag: String,
    },
    /// What a destroy would need is not allowed.
    #[error(
        "`{principal}` cannot find what belongs to the session: `{permission}` fails in {region}"
    )]
    Scan {
        /// Who tried.
        principal: Arn,
        /// The IAM action.
        permission: &'static str,
        /// Where.
        region: String,
        /// Why.
        #[source]
        source: AwsError,
    },
}

fn of_profile(profile: Option<&str>) -> String {
    profile.map_or_else(String::new, |profile| format!(" of profile `{profile}`"))
}

impl Explain for IdentityError {
    fn category(&self) -> Category {
        match self {
            Self::Caller { source, .. } => source.category(),
            Self::Owner(source) => source.category(),
            Self::Account(source) => source.category(),
            Self::Assume { source, .. } | Self::Scan { source, .. } => failed_proof(source),
            Self::Principal(_) | Self::OtherRole { .. } => Category::Permanent,
            Self::Tag { .. } => Category::Config,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Caller { source, .. } => source.code(),
            Self::Owner(source) => source.code(),
            Self::Account(source) => source.code(),
            Self::Assume { .. } => "role-not-assumable",
            Self::Scan { .. } => "scope-not-scannable",
            Self::Principal(_) => "principal-unreadable",
            Self::OtherRole { .. } => "role-differs",
            Self::Tag { .. } => "session-tag-unknown",
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Caller { profile, source } => match source.kind() {
                AwsErrorKind::Expired | AwsErrorKind::NoCredentials => {
                    Some(format!("run `{}`", login(profile.as_deref())))
                }
                _ => source.remedy(),
            },
            Self::Owner(source) => source.remedy(),
            Self::Account(source) => source.remedy(),
            Self::Assume {
                principal,
                role,
                source,
            } => assume_remedy(principal, role, source),
            Self::Scan {
                principal,
                permission,
                source,
                ..
            } => Some(match source.kind() {
                AwsErrorKind::Denied => format!(
                    "allow `{permission}` for `{principal}`: a destroy has to find what it must delete"
                ),
                _ => return source.remedy(),
            }),
            Self::Principal(_) => None,
            Self::OtherRole { .. } => {
                Some("check `target.aws.iam.role_arn`, and what AWS_ENDPOINT_URL names".into())
            }
            Self::Tag { tag } => Some(format!(
                "take `{tag}` off the list; cp9 sets `cp9-owner` and `cp9-session`"
            )),
        }
    }
}

/// What is refused is wrong in the configuration, whatever the service calls it; what got no answer is not.
fn failed_proof(source: &AwsError) -> Category {
    match source.category() {
        Category::Transient => Category::Transient,
        _ => Category::Config,
    }
}

fn assume_remedy(principal: &Arn, role: &Arn, source: &AwsError) -> Option<String> {
    let tags = source.message().contains("TagSession");
    Some(match source.kind() {
        AwsErrorKind::Denied if tags => {
            format!("allow `sts:TagSession` for `{principal}` in the trust policy of `{role}`")
        }
        AwsErrorKind::Denied | AwsErrorKind::NotFound => format!(
            "try `aws sts assume-role --role-arn {role} --role-session-name test`; the trust policy of the \
             role must allow `sts:AssumeRole` and `sts:TagSession` for `{principal}`"
        ),
        AwsErrorKind::Expired => format!("run `{}`", login(None)),
        _ => return source.remedy(),
    })
}

/// What the session file and the environment say about identity.
#[derive(Debug, Clone, Copy)]
pub struct Wishes<'a> {
    /// The role that is assumed.
    pub role: Option<&'a Arn>,
    /// `CP9_OWNER`.
    pub asked: Option<&'a str>,
    /// The owners that each principal may claim.
    pub allowlist: &'a BTreeMap<String, Vec<String>>,
    /// Session tags that the role must carry.
    pub tags: &'a [String],
    /// The accounts that may be written to.
    pub accounts: Accounts<'a>,
    /// The session file.
    pub file: &'a str,
}

/// A principal that AWS has confirmed, and the owner that follows from it.
#[derive(Debug, Clone)]
pub struct Identified {
    /// The client of the credentials.
    pub aws: Aws,
    /// Who they are.
    pub principal: Arn,
    /// Their account.
    pub account: String,
    /// Who the session belongs to.
    pub owner: Owner,
    /// How that is known.
    pub source: OwnerSource,
}

/// What was proven on AWS for a session; holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsProof {
    /// The account that is written to.
    pub account: String,
    /// The region that is written to.
    pub region: String,
    /// `aws`, `aws-cn`, `aws-us-gov`.
    pub partition: String,
    /// Who the credentials were before a role was assumed.
    pub caller: Arn,
    /// Who acts.
    pub principal: Arn,
    /// How the owner is known.
    pub owner_source: OwnerSource,
    /// Where the credentials come from, in words.
    pub credentials: String,
    /// When they end; none if they last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// When those end that a role is assumed with, again and again; none if they last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_expires: Option<Timestamp>,
    /// Whether the session itself carries the tags, or each request does.
    pub session_tags: bool,
}

/// Asks AWS who the credentials are, and decides whose the session is.
pub async fn identify(aws: Aws, wishes: &Wishes<'_>) -> Result<Identified, IdentityError> {
    let profile = aws.profile().map(str::to_owned);
    let caller = caller_identity(&aws).await;
    let caller = caller.map_err(|source| IdentityError::Caller {
        profile: profile.clone(),
        source,
    })?;
    let principal: Arn = caller.arn.parse().map_err(IdentityError::Principal)?;
    let (owner, source) = Claim {
        principal: &principal,
        role: wishes.role,
        asked: wishes.asked,
        allowlist: wishes.allowlist,
        file: wishes.file,
        profile: profile.as_deref(),
    }
    .decide()?;
    Ok(Identified {
        aws,
        principal,
        account: caller.account,
        owner,
        source,
    })
}
