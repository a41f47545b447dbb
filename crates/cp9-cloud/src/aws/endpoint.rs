//! Where a service is asked, and for which region and name the request is signed.

mod names;

use aws_runtime::env_config::property::PropertiesKey;
use aws_runtime::env_config::section::EnvConfigSections;
use cp9_tools::Environment;

use super::error::{AwsError, AwsErrorKind};
use super::partition::{Partition, is_region};
use super::protocol::ApiCall;

pub use names::signing_name;

/// Where a call goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme, host and perhaps the beginning of the path, without a final slash.
    pub base: String,
    /// The service in the signature.
    pub signing_name: String,
    /// The region in the signature.
    pub signing_region: String,
    /// True when the environment or a profile named it instead of AWS.
    pub overridden: bool,
}

/// What the environment and the profile say about endpoints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EndpointChoices {
    /// Addresses by service id as in variables, such as `RESOURCE_GROUPS_TAGGING_API`.
    pub(crate) services: Vec<(String, String)>,
    /// The address of all other services.
    pub(crate) all: Option<String>,
    /// The section of the profile files with addresses by service, for when no variable has any.
    pub(crate) section: Option<(String, EnvConfigSections)>,
    /// The profile's address of all other services.
    pub(crate) of_profile: Option<String>,
    pub(crate) fips: bool,
    pub(crate) dual_stack: bool,
    /// One endpoint of STS for all regions, as old set-ups ask for.
    pub(crate) global_sts: bool,
}

impl EndpointChoices {
    /// Reads `AWS_ENDPOINT_URL`, its forms by service, and the switches beside them.
    pub(crate) fn of(env: &Environment) -> Self {
        let flag = |name| {
            env.get(name)
                .is_some_and(|value| value.eq_ignore_ascii_case("true"))
        };
        let legacy = env.get("AWS_STS_REGIONAL_ENDPOINTS");
        let mut choices = Self {
            fips: flag("AWS_USE_FIPS_ENDPOINT"),
            dual_stack: flag("AWS_USE_DUALSTACK_ENDPOINT"),
            global_sts: legacy.is_some_and(|value| value.eq_ignore_ascii_case("legacy")),
            ..Self::default()
        };
        if flag("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
            return choices;
        }
        for (name, value) in env.iter().filter(|(_, value)| !value.is_empty()) {
            if name == "AWS_ENDPOINT_URL" {
                choices.all = Some(value.to_owned());
            } else if let Some(id) = name.strip_prefix("AWS_ENDPOINT_URL_") {
                choices.services.push((id.to_owned(), value.to_owned()));
            }
        }
        choices
    }

    /// What tells another program to ask where this one asks, as variables. The addresses of single services
    /// in the profile files are not among them.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let all = self.all.as_ref().or(self.of_profile.as_ref());
        let all = all.map(|url| ("AWS_ENDPOINT_URL".to_owned(), url.clone()));
        let single = |(id, url): &(String, String)| (format!("AWS_ENDPOINT_URL_{id}"), url.clone());
        let flags = [
            ("AWS_USE_FIPS_ENDPOINT", self.fips),
            ("AWS_USE_DUALSTACK_ENDPOINT", self.dual_stack),
        ];
        let flags = flags.into_iter().filter(|(_, set)| *set);
        all.into_iter()
            .chain(self.services.iter().map(single))
            .chain(flags.map(|(name, _)| (name.to_owned(), "true".to_owned())))
            .collect()
    }

    fn for_service(&self, service: &str) -> Option<&str> {
        let named = names::ids(service).into_iter().find_map(|id| {
            let mut services = self.services.iter();
            services.find(|(known, _)| *known == id).map(|(_, url)| url)
        });
        let of_env = named.or(self.all.as_ref()).map(String::as_str);
        let of_section = || self.in_section(service);
        of_env.or_else(of_section).or(self.of_profile.as_deref())
    }

    fn in_section(&self, service: &str) -> Option<&str> {
        let (name, sections) = self.section.as_ref()?;
        names::ids(service).into_iter().find_map(|id| {
            let key = PropertiesKey::builder()
                .section_key("services")
                .section_name(name)
                .property_name(id.to_ascii_lowercase())
                .sub_property_name("endpoint_url")
                .build()
                .ok()?;
            sections.other_sections().get(&key).map(String::as_str)
        })
    }
}

/// The endpoint of a call from a client of `region`.
pub(crate) fn resolve(
    call: &ApiCall,
    region: &str,
    choices: &EndpointChoices,
) -> Result<Endpoint, AwsError> {
    let refused = |what: String| {
        AwsError::new(AwsErrorKind::Config, &call.service, &call.operation, region).says(what)
    };
    if !is_region(region) {
        return Err(refused(format!("`{region}` is not the name of a region")));
    }
    let partition = Partition::of_region(region);
    let global = names::global(&call.service, &partition);
    let signing_region = global
        .as_ref()
        .map_or(region, |(_, region)| region)
        .to_owned();
    let endpoint = |base: String, overridden| Endpoint {
        base,
        signing_name: signing_name(&call.service).to_owned(),
        signing_region: signing_region.clone(),
        overridden,
    };
    if let Some(url) = choices.for_service(&call.service) {
        let base = url.trim().trim_end_matches('/');
        if !is_base(base) {
            return Err(refused(format!("`{url}` is not the address of an endpoint"))
                .edit(|facts| facts.remedy = Some(
                    "set AWS_ENDPOINT_URL to an address such as `http://127.0.0.1:5000`, or unset it".into(),
                )));
        }
        return Ok(endpoint(base.to_owned(), true));
    }
    let host = match global {
        Some((host, _)) => host,
        None => regional(&call.service, region, &partition, choices),
    };
    if choices.global_sts && call.service == "sts" && partition.name == "aws" {
        let mut endpoint = endpoint("https://sts.amazonaws.com".to_owned(), false);
        partition
            .global_region
            .clone_into(&mut endpoint.signing_region);
        return Ok(endpoint);
    }
    Ok(endpoint(format!("https://{host}"), false))
}

/// In `aws-us-gov` the ordinary endpoints are the validated ones.
fn regional(
    service: &str,
    region: &str,
    partition: &Partition,
    choices: &EndpointChoices,
) -> String {
    let fips = if choices.fips && partition.name != "aws-us-gov" {
        "-fips"
    } else {
        ""
    };
    match (choices.dual_stack, service) {
        (true, "s3") => format!("s3{fips}.dualstack.{region}.{}", partition.suffix),
        (true, _) => format!("{service}{fips}.{region}.{}", partition.dual_stack_suffix),
        (false, _) => format!("{service}{fips}.{region}.{}", partition.suffix),
    }
}

fn is_base(base: &str) -> bool {
    let rest = base
        .strip_prefix("https://")
        .or_else(|| base.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or(rest));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['@', '?', '#', ' ']))
}

/// The URL of a call: for S3 the bucket goes into the host name where it can, else into the path.
pub(crate) fn url(endpoint: &Endpoint, bucket: Option<&str>, path: &str, query: &str) -> String {
    let mut url = match (bucket, endpoint.base.split_once("://")) {
        (Some(bucket), Some((scheme, host))) if !endpoint.overridden && fits_host(bucket) => {
            format!("{scheme}://{bucket}.{host}{path}")
        }
        (Some(bucket), _) => {
            let bucket = super::protocol::escape(bucket);
            format!("{}/{bucket}{}", endpoint.base, path.trim_end_matches('/'))
        }
        (None, _) => format!("{}{path}", endpoint.base),
    };
    if !query.is_empty() {
        url.push('?');
        url.push_str(query);
    }
    url
}

/// A bucket with a dot is no single label, so that no certificate fits its host.
fn fits_host(bucket: &str) -> bool {
    (3..=63).contains(&bucket.len()) && is_region(bucket)
}

#[cfg(test)]
mod tests;
