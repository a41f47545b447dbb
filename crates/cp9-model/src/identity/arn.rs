//! Amazon Resource Names, as far as identities need them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A text that is no Amazon Resource Name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is no ARN, such as `arn:aws:iam::123456789012:role/name`")]
pub struct ArnError {
    /// The text.
    pub text: String,
}

/// The name of a thing on AWS.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Arn {
    /// `aws`, `aws-cn`, `aws-us-gov` …
    pub partition: String,
    /// The service, such as `iam`.
    pub service: String,
    /// The region; empty for what is global.
    pub region: String,
    /// The account; empty for what has none.
    pub account: String,
    /// The rest.
    pub resource: String,
}

/// Who a process is, as AWS tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal<'a> {
    /// A session of a role.
    AssumedRole {
        /// The role's name, without its path.
        role: &'a str,
        /// The name of the session.
        session: &'a str,
    },
    /// A role itself, with its name without its path.
    Role(&'a str),
    /// A user, the root of an account, a federated user.
    Other,
}

impl Arn {
    /// What kind of principal it names.
    pub fn principal(&self) -> Principal<'_> {
        let (kind, rest) = self.resource.split_once('/').unwrap_or_default();
        match (self.service.as_str(), kind) {
            ("sts", "assumed-role") => {
                let (role, session) = rest.split_once('/').unwrap_or((rest, ""));
                Principal::AssumedRole { role, session }
            }
            ("iam", "role") => Principal::Role(rest.rsplit('/').next().unwrap_or(rest)),
            _ => Principal::Other,
        }
    }

    /// True if both are the same principal, or sessions of the same role, whatever the sessions' names.
    pub fn is_same_principal(&self, other: &Self) -> bool {
        let same_place = self.partition == other.partition && self.account == other.account;
        match (self.principal(), other.principal()) {
            (
                Principal::AssumedRole { role, .. },
                Principal::AssumedRole { role: of_other, .. },
            ) => same_place && role == of_other,
            _ => self == other,
        }
    }

    /// True if this principal is the other one, or a session of it: a session's ARN names its role without
    /// the role's path.
    pub fn is_or_runs_as(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        let same_place = self.partition == other.partition && self.account == other.account;
        match (self.principal(), other.principal()) {
            (Principal::AssumedRole { role, .. }, Principal::Role(wanted)) => {
                same_place && role == wanted
            }
            _ => false,
        }
    }
}

impl FromStr for Arn {
    type Err = ArnError;

    fn from_str(text: &str) -> Result<Self, ArnError> {
        let refused = || ArnError { text: text.into() };
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let [prefix, partition, service, region, account, resource] = parts.as_slice() else {
            return Err(refused());
        };
        let well = *prefix == "arn" && partition.starts_with("aws");
        let account_well = account.is_empty()
            || *account == "aws"
            || (account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit()));
        if !well || service.is_empty() || resource.is_empty() || !account_well {
            return Err(refused());
        }
        Ok(Self {
            partition: (*partition).into(),
            service: (*service).into(),
            region: (*region).into(),
            account: (*account).into(),
            resource: (*resource).into(),
        })
    }
}

impl TryFrom<String> for Arn {
    type Error = ArnError;

    fn try_from(text: String) -> Result<Self, ArnError> {
        text.parse()
    }
}

impl From<Arn> for String {
    fn from(arn: Arn) -> Self {
        arn.to_string()
    }
}

impl fmt::Display for Arn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            partition,
            service,
            region,
            account,
            resource,
        } = self;
        write!(f, "arn:{partition}:{service}:{region}:{account}:{resource}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arn(text: &str) -> Arn {
        text.parse().expect("an ARN")
    }

    #[test]
    fn arns_of_every_partition_are_read_and_written() {
        for text in [
            "arn:aws:sts::123456789012:assumed-role/cp9-developer/alice@example.com",
            "arn:aws-cn:iam::123456789012:role/path/to/ci",
            "arn:aws-us-gov:iam::123456789012:root",
            "arn:aws:s3:::bucket/key:with:colons",
            "arn:aws:iam::aws:policy/ReadOnlyAccess",
        ] {
            assert_eq!(arn(text).to_string(), text);
        }
        for text in [
            "",
            "arn",
            "arn:aws:iam::12345:role/x",
            "arn:gcp:iam::123456789012:role/x",
            "arn:aws:iam::123456789012:",
            "alice@example.com",
        ] {
            assert_eq!(text.parse::<Arn>(), Err(ArnError { text: text.into() }));
        }
    }

    #[test]
    fn a_session_is_of_its_role_whatever_the_roles_path() {
        let session = arn("arn:aws:sts::123456789012:assumed-role/ci/run-7");
        assert!(session.is_or_runs_as(&arn("arn:aws:iam::123456789012:role/ci")));
        assert!(session.is_or_runs_as(&arn("arn:aws:iam::123456789012:role/team/a/ci")));
        assert!(session.is_or_runs_as(&session.clone()));
        assert!(!session.is_or_runs_as(&arn("arn:aws:iam::123456789012:role/ci2")));
        assert!(!session.is_or_runs_as(&arn("arn:aws:iam::999999999999:role/ci")));
        assert!(!session.is_or_runs_as(&arn("arn:aws-cn:iam::123456789012:role/ci")));
        assert!(!session.is_or_runs_as(&arn("arn:aws:sts::123456789012:assumed-role/ci/run-8")));
        assert!(!arn("arn:aws:iam::123456789012:user/ci").is_or_runs_as(&session));
    }

    #[test]
    fn two_sessions_of_a_role_are_the_same_principal() {
        let session = arn("arn:aws:sts::123456789012:assumed-role/ci/run-7");
        let same = |text: &str| session.is_same_principal(&arn(text));
        assert!(same("arn:aws:sts::123456789012:assumed-role/ci/run-8"));
        assert!(!same("arn:aws:sts::999999999999:assumed-role/ci/run-7"));
        assert!(!same("arn:aws:sts::123456789012:assumed-role/dev/run-7"));
        assert!(!same("arn:aws:iam::123456789012:role/ci"));
        let user = arn("arn:aws:iam::123456789012:user/ci");
        assert!(user.is_same_principal(&user.clone()) && !user.is_same_principal(&session));
    }
}
