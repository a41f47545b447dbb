//! How the selected profile comes to its credentials: who gives the first ones, and which roles are
//! assumed with them.

use std::time::Duration;

use aws_runtime::env_config::section::Profile;
use cp9_tools::Secret;

use super::SessionCredentials;
use super::profiles::Profiles;
use super::sdk::none;
use crate::aws::error::{AwsError, AwsErrorKind};
use crate::aws::sts::RoleRequest;

/// Who gives the first credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Giver {
    /// The profile files.
    Files(SessionCredentials),
    /// A program, by its command line.
    Program(String),
    /// The SDK.
    Sdk,
}

/// The way of a profile to its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The profile that has the giver.
    pub(super) profile: String,
    pub(super) giver: Giver,
    /// The roles to assume after that, in order.
    pub(super) roles: Vec<RoleRequest>,
}

/// Where a profile gets its credentials from, at the end of its chain of sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Base {
    /// Keys in the file.
    Keys,
    /// A log-in in the browser, by the profile that has it.
    Sso(String),
    /// A program.
    Program(String),
    /// The file of a token.
    WebIdentity,
    /// `Environment`, `EcsContainer` or `Ec2InstanceMetadata`.
    Source(String),
    /// The newer log-in of the console, by the profile that has it.
    Login(String),
}

/// A profile's way to credentials.
pub(super) struct Chain<'p> {
    pub(super) base: Base,
    /// The roles to assume, in order.
    roles: Vec<RoleRequest>,
    /// The profile that has the base.
    profile: &'p str,
    /// True when that profile itself names the first of the roles.
    own_role: bool,
}

impl<'p> Chain<'p> {
    fn of(base: Base, mut roles: Vec<RoleRequest>, profile: &'p str) -> Self {
        roles.reverse();
        Self {
            base,
            roles,
            profile,
            own_role: false,
        }
    }

    fn with_own_role(mut self, own_role: bool) -> Self {
        self.own_role = own_role;
        self
    }
}

impl Profiles {
    /// The plan of the selected profile; none when the environment has keys or there is no profile.
    pub(super) fn plan(&self) -> Result<Option<Plan>, AwsError> {
        if self.uses_env_keys() {
            return Ok(None);
        }
        let Some(mut chain) = self.walk()? else {
            return Ok(None);
        };
        let giver = match chain.base {
            Base::Keys => Giver::Files(self.keys(chain.profile)?),
            Base::Program(command) => Giver::Program(command),
            Base::Login(profile) => return Err(unsupported_login(&profile)),
            Base::Sso(_) | Base::WebIdentity | Base::Source(_) => {
                // The SDK assumes the role that the profile itself names.
                chain.roles.drain(..usize::from(chain.own_role));
                Giver::Sdk
            }
        };
        Ok(Some(Plan {
            profile: chain.profile.to_owned(),
            giver,
            roles: chain.roles,
        }))
    }

    fn keys(&self, name: &str) -> Result<SessionCredentials, AwsError> {
        let get = |key| self.sections.get_profile(name)?.get(key);
        let (Some(id), Some(key)) = (get("aws_access_key_id"), get("aws_secret_access_key")) else {
            return Err(wrong(format!("profile `{name}` has only half of a key")));
        };
        Ok(SessionCredentials {
            access_key: Secret::new(id),
            secret_key: Secret::new(key),
            session_token: get("aws_session_token").map(Secret::new),
            expires: None,
            source: self.describe(),
        })
    }

    /// Follows the sources of the selected profile. None when there is no such profile and none was
    /// asked for.
    pub(super) fn walk(&self) -> Result<Option<Chain<'_>>, AwsError> {
        let selected = self.selected();
        let asked = self.env.contains_key("AWS_PROFILE");
        if self.sections.get_profile(selected).is_none() && !asked {
            return Ok(None);
        }
        let mut roles = Vec::new();
        let mut visited = Vec::new();
        let mut name = selected;
        loop {
            let profile = self.sections.get_profile(name);
            let profile = profile.ok_or_else(|| self.missing(name, visited.last().copied()))?;
            if visited.contains(&name) {
                return Err(wrong(format!("profile `{name}` is its own source")));
            }
            visited.push(name);
            let keys = profile.get("aws_access_key_id").is_some();
            if visited.len() > 1 && keys {
                return Ok(Some(Chain::of(Base::Keys, roles, name)));
            }
            let before = roles.len();
            match role(profile, &mut roles)? {
                Some(source) if source != name => name = source,
                _ => {
                    let own = roles.len() > before;
                    let chain = |base| Chain::of(base, roles, name).with_own_role(own);
                    return Ok(base(profile).map(chain));
                }
            }
        }
    }

    fn missing(&self, name: &str, from: Option<&str>) -> AwsError {
        let mut known: Vec<&str> = self.sections.profiles().collect();
        known.sort_unstable();
        let from = from
            .map(|from| format!(", the source of `{from}`,"))
            .unwrap_or_default();
        wrong(format!(
            "profile `{name}`{from} is not in the AWS profile files"
        ))
        .edit(|facts| {
            let known = known.join("`, `");
            let hint = if known.is_empty() {
                format!("run `aws configure sso --profile {name}`")
            } else {
                format!("run `aws configure sso --profile {name}`, or name one of `{known}`")
            };
            facts.remedy = Some(hint);
        })
    }
}

impl Base {
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Keys => "keys",
            Self::Sso(_) => "SSO",
            Self::Program(_) => "program",
            Self::WebIdentity => "web identity",
            Self::Source(source) => source,
            Self::Login(_) => "login",
        }
    }
}

/// Takes up the role of a profile and says which profile it is assumed with.
fn role<'p>(
    profile: &'p Profile,
    roles: &mut Vec<RoleRequest>,
) -> Result<Option<&'p str>, AwsError> {
    let (Some(arn), None) = (
        profile.get("role_arn"),
        profile.get("web_identity_token_file"),
    ) else {
        return Ok(None);
    };
    if profile.get("mfa_serial").is_some() {
        return Err(wrong(format!(
            "profile `{}` wants a code of a device, and nobody is asked for one",
            profile.name()
        ))
        .edit(|facts| {
            facts.remedy = Some(format!(
                "let another profile have `credential_process = aws configure \
                 export-credentials --profile {} --format process`, and name that",
                profile.name()
            ));
        }));
    }
    let session = profile.get("role_session_name").unwrap_or("cp9");
    let mut request = RoleRequest::new(arn, session);
    request.external_id = profile.get("external_id").map(str::to_owned);
    let seconds = profile
        .get("duration_seconds")
        .and_then(|text| text.parse().ok());
    request.duration = seconds.map(Duration::from_secs);
    roles.push(request);
    Ok(profile.get("source_profile"))
}

/// What a profile without a role has itself, in the order of the SDK.
fn base(profile: &Profile) -> Option<Base> {
    let has = |name| profile.get(name).is_some();
    let name = || profile.name().to_owned();
    if let Some(source) = profile.get("credential_source") {
        Some(Base::Source(source.to_owned()))
    } else if has("web_identity_token_file") {
        Some(Base::WebIdentity)
    } else if has("sso_session") || has("sso_start_url") {
        Some(Base::Sso(name()))
    } else if has("login_session") {
        Some(Base::Login(name()))
    } else if let Some(command) = profile.get("credential_process") {
        Some(Base::Program(command.to_owned()))
    } else if has("aws_access_key_id") {
        Some(Base::Keys)
    } else {
        None
    }
}

fn wrong(message: String) -> AwsError {
    AwsError::new(AwsErrorKind::Config, "", "", "").says(message)
}

fn unsupported_login(profile: &str) -> AwsError {
    none(format!("profile `{profile}` logs in through the console")).edit(|facts| {
        facts.remedy = Some(format!(
            "let another profile have `credential_process = aws configure export-credentials \
             --profile {profile} --format process`, and name that"
        ));
    })
}
