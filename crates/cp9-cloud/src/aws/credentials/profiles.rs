//! What the AWS profile files say, read by the SDK's own parser: where the credentials of the
//! selected profile come from, its region and its endpoints.

use std::collections::HashMap;

use aws_runtime::env_config::file::EnvConfigFiles;
use aws_runtime::env_config::section::{EnvConfigSections, Profile};
use aws_runtime::env_config::source;
use aws_types::os_shim_internal::{Env, Fs};
use cp9_tools::{Doors, Environment};

use super::sdk::none;
use crate::aws::endpoint::EndpointChoices;
use crate::aws::error::{AwsError, AwsErrorKind};
use crate::aws::sts::RoleRequest;

/// The variables that give credentials without a profile; a profile that the session file names
/// wins over them.
const WITHOUT_PROFILE: [&str; 9] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_PROFILE",
];
/// Variables that say that this machine is one of EC2's.
const ON_EC2: [&str; 2] = [
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
];
const NO_METADATA: &str = "AWS_EC2_METADATA_DISABLED";

/// The profile files and which profile is selected.
#[derive(Debug, Clone, Default)]
pub(in crate::aws) struct Profiles {
    sections: EnvConfigSections,
    env: HashMap<String, String>,
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

/// A program that gives credentials, and the roles to assume with them, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) profile: String,
    pub(super) command: String,
    pub(super) roles: Vec<RoleRequest>,
}

/// A profile's way to credentials.
struct Chain<'p> {
    base: Base,
    /// The roles to assume, in order.
    roles: Vec<RoleRequest>,
    /// The profile that has the base.
    profile: &'p str,
}

impl<'p> Chain<'p> {
    fn of(base: Base, mut roles: Vec<RoleRequest>, profile: &'p str) -> Self {
        roles.reverse();
        Self {
            base,
            roles,
            profile,
        }
    }
}

impl Profiles {
    /// Reads the files that the environment names, or those of the home folder.
    pub(in crate::aws) async fn load(
        doors: &Doors,
        profile: Option<&str>,
    ) -> Result<Self, AwsError> {
        let env = variables(&doors.env, profile);
        let files = EnvConfigFiles::default();
        let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
            AwsError::new(AwsErrorKind::Config, "", "", "")
                .says("the AWS profile files cannot be read")
                .caused(error)
        };
        let source = source::load(&Env::from(env.clone()), &Fs::real(), &files).await;
        let source = source.map_err(|error| unreadable(Box::new(error)))?;
        let sections = EnvConfigSections::parse(source);
        let sections = sections.map_err(|error| unreadable(Box::new(error)))?;
        let mut profiles = Self { sections, env };
        profiles.decide_metadata();
        Ok(profiles)
    }

    /// The environment as the SDK shall see it.
    pub(super) fn env(&self) -> Env {
        Env::from(self.env.clone())
    }

    /// The region of the selected profile.
    pub(in crate::aws) fn region(&self) -> Option<&str> {
        self.sections
            .get("region")
            .filter(|region| !region.is_empty())
    }

    /// The name of the selected profile.
    pub(super) fn selected(&self) -> &str {
        self.sections.selected_profile()
    }

    /// True when the environment's own keys are used rather than a profile's.
    pub(super) fn uses_env_keys(&self) -> bool {
        let given = |name: &str| {
            self.env
                .get(name)
                .is_some_and(|value| !value.trim().is_empty())
        };
        given("AWS_ACCESS_KEY_ID") && (given("AWS_SECRET_ACCESS_KEY") || given("SECRET_ACCESS_KEY"))
    }

    /// Adds the endpoints of the selected profile; those of the environment come first.
    pub(in crate::aws) fn add_endpoints(&self, choices: &mut EndpointChoices) {
        let ignored = |value: Option<&str>| value.is_some_and(|v| v.eq_ignore_ascii_case("true"));
        let env = self.env.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
        let setting = self.sections.get("ignore_configured_endpoint_urls");
        if ignored(env.map(String::as_str)) || ignored(setting) {
            return;
        }
        if choices.all.is_some() {
            return;
        }
        if let Some(section) = self.sections.get("services") {
            choices.section = Some((section.to_owned(), self.sections.clone()));
        }
        let url = self.sections.get("endpoint_url");
        choices.of_profile = url.map(str::to_owned);
    }

    /// The program of the selected profile with the roles behind it, if it has one.
    pub(super) fn program(&self) -> Result<Option<Program>, AwsError> {
        if self.uses_env_keys() {
            return Ok(None);
        }
        let Some(chain) = self.walk()? else {
            return Ok(None);
        };
        match chain.base {
            Base::Program(command) => Ok(Some(Program {
                profile: chain.profile.to_owned(),
                command,
                roles: chain.roles,
            })),
            Base::Login(profile) => Err(unsupported_login(&profile)),
            _ => Ok(None),
        }
    }

    /// The command that logs in again for the selected profile.
    pub(in crate::aws) fn login(&self) -> Option<String> {
        if self.uses_env_keys() {
            return None;
        }
        match self.walk().ok()??.base {
            Base::Sso(profile) => Some(format!("aws sso login --profile {profile}")),
            Base::Login(profile) => Some(format!("aws login --profile {profile}")),
            _ => None,
        }
    }

    /// Where the credentials come from, in words.
    pub(super) fn describe(&self) -> String {
        if self.uses_env_keys() {
            return "environment".to_owned();
        }
        let selected = self.selected();
        match self.walk() {
            Ok(Some(chain)) => format!("profile `{selected}` ({})", chain.base.words()),
            _ if self.env.contains_key("AWS_WEB_IDENTITY_TOKEN_FILE") => "web identity".to_owned(),
            _ => "machine".to_owned(),
        }
    }

    pub(super) fn is_sso(&self) -> bool {
        matches!(self.walk(), Ok(Some(chain)) if matches!(chain.base, Base::Sso(_)))
    }

    /// Follows the sources of the selected profile. None when there is no such profile and none was
    /// asked for.
    fn walk(&self) -> Result<Option<Chain<'_>>, AwsError> {
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
            let next = role(profile, &mut roles)?;
            match next {
                Some(source) if source != name => name = source,
                _ => return Ok(base(profile).map(|base| Chain::of(base, roles, name))),
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

    /// The metadata service is asked only on machines that are said to be EC2's: elsewhere its
    /// address leads nowhere, and every command would wait for that.
    fn decide_metadata(&mut self) {
        let said = self
            .env
            .get(NO_METADATA)
            .is_some_and(|value| !value.is_empty());
        let on_ec2 = ON_EC2.iter().any(|name| self.env.contains_key(*name));
        let source = |base: &Base| matches!(base, Base::Source(s) if s.eq_ignore_ascii_case("Ec2InstanceMetadata"));
        let wanted = matches!(self.walk(), Ok(Some(chain)) if source(&chain.base));
        if !said && !on_ec2 && !wanted {
            self.env.insert(NO_METADATA.to_owned(), "true".to_owned());
        }
    }
}

impl Base {
    fn words(&self) -> &str {
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
    request.duration = seconds.map(std::time::Duration::from_secs);
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

/// The environment passed in, with the profile that the session file names. Empty variables count
/// as not set, as they do for the AWS tools.
fn variables(env: &Environment, profile: Option<&str>) -> HashMap<String, String> {
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut variables: HashMap<String, String> = env.iter().map(own).collect();
    variables.retain(|name, value| !(name.starts_with("AWS_") && value.is_empty()));
    if !variables.contains_key("AWS_PROFILE")
        && let Some(default) = variables.get("AWS_DEFAULT_PROFILE").cloned()
    {
        variables.insert("AWS_PROFILE".to_owned(), default);
    }
    if let Some(profile) = profile {
        variables.retain(|name, _| !WITHOUT_PROFILE.contains(&name.as_str()));
        variables.insert("AWS_PROFILE".to_owned(), profile.to_owned());
    }
    variables
}
