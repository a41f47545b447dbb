//! The session's identity on AWS as a process sees it: a profile whose credentials come from the session's
//! controller, and the one region. What the manifests say of either is left out, so that everything a process
//! makes is the session's; `run.env` may say otherwise.

use cp9_model::identity::leads_to_credentials;

use super::context::{Context, Notes};
use super::environment::{Origin, Variable, Variables};

/// The profile.
const PROFILE: &str = "cp9";
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// Where a session writes on AWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsScope {
    /// The account.
    pub account: String,
    /// The region.
    pub region: String,
    /// Who acts, as an ARN.
    pub principal: String,
    /// What else a process needs to reach it, such as `AWS_ENDPOINT_URL`.
    pub variables: Vec<(String, String)>,
}

/// Puts the session's identity in place of what the manifests say of one.
pub(super) fn identify(context: &Context<'_>, variables: &mut Variables, notes: &mut Notes) {
    let Some(aws) = context.session.aws else {
        return;
    };
    variables.retain(|name, variable| {
        let kept = !is_overruled(name, variable, aws);
        if !kept {
            notes.remarks.push(format!(
                "variable `{name}` of the manifests is left out: the process acts as the session does, in its region"
            ));
        }
        kept
    });
    for (name, value) in &aws.variables {
        let value = Variable::plain(value, Origin::Fixed);
        variables.entry(name.clone()).or_insert(value);
    }
    let fixed = |value: &str| Variable::plain(value, Origin::Fixed);
    variables.insert("AWS_EC2_METADATA_DISABLED".to_owned(), fixed("true"));
    for name in REGIONS {
        variables.insert(name.to_owned(), fixed(&aws.region));
    }
    let other = context
        .run
        .env
        .keys()
        .find(|name| leads_to_credentials(name));
    if let Some(name) = other {
        notes.remarks.push(format!(
            "`run.env.{name}` decides who the process is on AWS, not the session"
        ));
        return;
    }
    let own = [
        ("AWS_CONFIG_FILE", "${session}/aws/config"),
        ("AWS_SHARED_CREDENTIALS_FILE", "${session}/aws/credentials"),
        ("AWS_PROFILE", PROFILE),
        // Older SDKs read the configuration file only if they are told to.
        ("AWS_SDK_LOAD_CONFIG", "1"),
    ];
    variables.extend(own.map(|(name, value)| (name.to_owned(), fixed(value))));
}

fn is_overruled(name: &str, variable: &Variable, aws: &AwsScope) -> bool {
    let place = REGIONS.contains(&name) && variable.value != aws.region;
    variable.origin == Origin::Manifest && (place || leads_to_credentials(name))
}
