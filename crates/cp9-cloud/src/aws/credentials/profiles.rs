//! What the AWS profile files say, read by the SDK's own parser: where the credentials of the
//! selected profile come from, its region and its endpoints.

use std::collections::HashMap;

use aws_runtime::env_config::file::EnvConfigFiles;
use aws_runtime::env_config::section::EnvConfigSections;
use aws_runtime::env_config::source;
use aws_types::os_shim_internal::{Env, Fs};
use cp9_tools::{Doors, Environment};

use super::plan::Base;
use crate::aws::endpoint::EndpointChoices;
use crate::aws::error::{AwsError, AwsErrorKind};

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
    pub(super) sections: EnvConfigSections,
    pub(super) env: HashMap<String, String>,
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

    /// The environment as the SDK shall see it, perhaps with another profile selected.
    pub(super) fn env(&self, profile: Option<&str>) -> Env {
        let mut env = self.env.clone();
        if let Some(profile) = profile {
            env.insert("AWS_PROFILE".to_owned(), profile.to_owned());
        }
        Env::from(env)
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
