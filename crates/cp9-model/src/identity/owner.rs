//! The owner of a session on a real cloud: the e-mail of an SSO identity, or what a CI principal may claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::arn::{Arn, Principal};
use crate::explain::{Category, Explain};
use crate::name::Owner;

/// How the names of the roles begin that IAM Identity Center makes for its permission sets. The session
/// of such a role is named by Identity Center after its user; nobody else can assume it.
const SSO_ROLE: &str = "AWSReservedSSO_";

/// Where an owner was proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnerSource {
    /// The e-mail of an SSO identity.
    Sso,
    /// The session name of the developer role, which a process already runs as.
    Role,
    /// `CP9_OWNER`, allowed for the proven principal by `ci.owner_allowlist`.
    Ci,
}

/// What is known when the owner is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Who the credentials are, proven by the cloud.
    pub principal: &'a Arn,
    /// The developer role of the session file.
    pub role: Option<&'a Arn>,
    /// `CP9_OWNER`, if it is set.
    pub asked: Option<&'a str>,
    /// The owners that each principal may claim.
    pub allowlist: &'a BTreeMap<String, Vec<String>>,
    /// The session file that holds the list.
    pub file: &'a str,
    /// The profile, for remedies.
    pub profile: Option<&'a str>,
}

/// Nobody is proven.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OwnerError {
    /// The identity names no person, and nobody is claimed.
    #[error("`{principal}` names no owner")]
    Nobody {
        /// Who was proven.
        principal: String,
        /// The profile.
        profile: Option<String>,
    },
    /// The user of the SSO identity is no e-mail address.
    #[error("SSO user `{user}` of `{principal}` is no e-mail address")]
    NoEmail {
        /// Who was proven.
        principal: String,
        /// The user.
        user: String,
    },
    /// The principal may not claim this owner.
    #[error("`{principal}` may not act for `{owner}`: not in `ci.owner_allowlist` of `{file}`")]
    NotAllowed {
        /// Who was proven.
        principal: String,
        /// Who is claimed.
        owner: Owner,
        /// The session file.
        file: String,
    },
    /// A person claims to be another one.
    #[error("`CP9_OWNER` is `{asked}`, but `{principal}` proves `{proven}`")]
    Differs {
        /// Who was proven.
        principal: String,
        /// The claim.
        asked: Owner,
        /// The proof.
        proven: Owner,
    },
}

impl Explain for OwnerError {
    fn category(&self) -> Category {
        Category::Config
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Nobody { .. } => "owner-unknown",
            Self::NoEmail { .. } => "owner-no-email",
            Self::NotAllowed { .. } => "owner-not-allowed",
            Self::Differs { .. } => "owner-differs",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Nobody { principal, profile } => {
                let login = login(profile.as_deref());
                format!(
                    "people: `{login}`; CI: set CP9_OWNER and list it under `ci.owner_allowlist: {{\"{principal}\": [...]}}`"
                )
            }
            Self::NoEmail { .. } => "sign in with a user whose name is its e-mail address".into(),
            Self::NotAllowed {
                principal,
                owner,
                file,
            } => {
                format!("in `{file}` set `ci.owner_allowlist: {{\"{principal}\": [\"{owner}\"]}}`")
            }
            Self::Differs { .. } => "unset CP9_OWNER".into(),
        })
    }
}

/// The command by which a person signs in.
pub fn login(profile: Option<&str>) -> String {
    profile.map_or_else(
        || "aws sso login".to_owned(),
        |profile| format!("aws sso login --profile {profile}"),
    )
}

impl Claim<'_> {
    /// Who the session belongs to. The SSO identity of a person goes before any claim.
    pub fn decide(&self) -> Result<(Owner, OwnerSource), OwnerError> {
        let asked = self.asked.map(Owner::new);
        let asked = asked.filter(|owner| !owner.as_str().is_empty());
        if let Some((proven, source)) = self.person()? {
            return match asked {
                Some(asked) if asked != proven => Err(OwnerError::Differs {
                    principal: self.principal.to_string(),
                    asked,
                    proven,
                }),
                _ => Ok((proven, source)),
            };
        }
        let principal = self.principal.to_string();
        let Some(owner) = asked else {
            let profile = self.profile.map(str::to_owned);
            return Err(OwnerError::Nobody { principal, profile });
        };
        if self.may_claim(&owner) {
            return Ok((owner, OwnerSource::Ci));
        }
        Err(OwnerError::NotAllowed {
            principal,
            owner,
            file: self.file.to_owned(),
        })
    }

    /// The person that the identity itself names.
    fn person(&self) -> Result<Option<(Owner, OwnerSource)>, OwnerError> {
        let Principal::AssumedRole { role, session } = self.principal.principal() else {
            return Ok(None);
        };
        if role.starts_with(SSO_ROLE) {
            if !is_email(session) {
                return Err(OwnerError::NoEmail {
                    principal: self.principal.to_string(),
                    user: session.to_owned(),
                });
            }
            return Ok(Some((Owner::new(session), OwnerSource::Sso)));
        }
        // The developer role is assumed by people alone; whoever runs as it was named when it was assumed.
        let developer = self
            .role
            .is_some_and(|role| self.principal.is_or_runs_as(role));
        Ok((developer && is_email(session)).then(|| (Owner::new(session), OwnerSource::Role)))
    }

    fn may_claim(&self, owner: &Owner) -> bool {
        let is_this = |arn: &str| {
            arn.parse::<Arn>()
                .is_ok_and(|arn| self.principal.is_or_runs_as(&arn))
        };
        let lists = self.allowlist.iter().filter(|(arn, _)| is_this(arn));
        lists
            .flat_map(|(_, owners)| owners)
            .any(|allowed| Owner::new(allowed) == *owner)
    }
}

/// Something, an `@`, and a domain: enough to tell a person from a user name.
fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(user, domain)| {
        !user.is_empty() && domain.contains('.') && !domain.contains('@')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSO: &str =
        "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Dev_0123abcd/Alice@Example.com";
    const CI: &str = "arn:aws:sts::123456789012:assumed-role/ci/run-7";

    struct Given {
        principal: &'static str,
        role: Option<&'static str>,
        asked: Option<&'static str>,
        allowlist: &'static [(&'static str, &'static [&'static str])],
    }

    fn decide(given: &Given) -> Result<(Owner, OwnerSource), OwnerError> {
        let principal: Arn = given.principal.parse().expect("an ARN");
        let role: Option<Arn> = given.role.map(|role| role.parse().expect("an ARN"));
        let owners = |owners: &[&str]| owners.iter().map(|&owner| owner.to_owned()).collect();
        let allowlist = given.allowlist.iter();
        let allowlist = allowlist.map(|(arn, list)| ((*arn).to_owned(), owners(list)));
        Claim {
            principal: &principal,
            role: role.as_ref(),
            asked: given.asked,
            allowlist: &allowlist.collect(),
            file: "/w/cp9.yaml",
            profile: Some("dev"),
        }
        .decide()
    }

    fn given(principal: &'static str, asked: Option<&'static str>) -> Given {
        Given {
            principal,
            role: None,
            asked,
            allowlist: &[],
        }
    }

    #[test]
    fn a_person_is_who_signed_in() {
        let (owner, source) = decide(&given(SSO, None)).expect("alice");
        assert_eq!(
            (owner.as_str(), source),
            ("alice@example.com", OwnerSource::Sso)
        );
        let same = decide(&given(SSO, Some("ALICE@example.com"))).expect("the same");
        assert_eq!(same.1, OwnerSource::Sso);
        let other = decide(&given(SSO, Some("bob@example.com"))).expect_err("not bob");
        assert_eq!(other.code(), "owner-differs");
        let user = "arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Dev_0123abcd/alice";
        let plain = decide(&given(user, Some("bob@example.com"))).expect_err("no e-mail");
        assert_eq!(plain.code(), "owner-no-email");
    }

    #[test]
    fn the_developer_role_tells_who_assumed_it_and_no_other_role_does() {
        let principal = "arn:aws:sts::123456789012:assumed-role/cp9-developer/bob@example.com";
        let role = Some("arn:aws:iam::123456789012:role/cp9-developer");
        let known = Given {
            role,
            ..given(principal, None)
        };
        let (owner, source) = decide(&known).expect("bob");
        assert_eq!(
            (owner.as_str(), source),
            ("bob@example.com", OwnerSource::Role)
        );
        let unknown = decide(&given(principal, None)).expect_err("any role may be named so");
        assert_eq!(unknown.code(), "owner-unknown");
        assert!(
            unknown
                .remedy()
                .expect("one")
                .contains("aws sso login --profile dev")
        );
    }

    #[test]
    fn ci_may_claim_what_is_listed_for_its_principal() {
        let listed = Given {
            allowlist: &[
                (
                    "arn:aws:iam::123456789012:role/pipelines/ci",
                    &["Nightly@Example.com"],
                ),
                ("no arn", &["mallory@example.com"]),
                (
                    "arn:aws:iam::123456789012:role/other",
                    &["mallory@example.com"],
                ),
            ],
            ..given(CI, Some("nightly@example.com"))
        };
        let (owner, source) = decide(&listed).expect("listed");
        assert_eq!(
            (owner.as_str(), source),
            ("nightly@example.com", OwnerSource::Ci)
        );
        let mallory = Given {
            asked: Some("mallory@example.com"),
            ..listed
        };
        let refused = decide(&mallory).expect_err("listed for others");
        assert!(refused.to_string().contains(CI) && refused.to_string().contains("/w/cp9.yaml"));
        assert!(
            refused
                .remedy()
                .expect("one")
                .contains("mallory@example.com")
        );
        let nobody = decide(&given(CI, None)).expect_err("no claim");
        assert!(nobody.to_string().contains(CI));
        let user = given("arn:aws:iam::123456789012:user/bot", Some("x@example.com"));
        assert_eq!(
            decide(&user).expect_err("unlisted").code(),
            "owner-not-allowed"
        );
    }

    #[test]
    fn an_empty_claim_is_none() {
        assert_eq!(
            decide(&given(CI, Some(" "))).expect_err("none").code(),
            "owner-unknown"
        );
    }
}
