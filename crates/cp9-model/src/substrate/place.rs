//! Where a plan writes: account, region and identity of its providers and resources.

use serde_json::Value;

use super::check::Expected;
use super::kinds::{Reach, reach};
use super::offence::{Offence, Rule};
use super::plan::{Plan, ProviderConfig, ResourceChange};

/// Settings by which a provider would act as somebody else than the proven identity, or elsewhere.
const OWN_IDENTITY: &[&str] = &[
    "access_key",
    "assume_role",
    "assume_role_with_web_identity",
    "endpoints",
    "profile",
    "secret_key",
    "shared_config_files",
    "shared_credentials_file",
    "shared_credentials_files",
    "token",
];

/// The providers that write into the account.
pub(super) fn providers(plan: &Plan, expected: &Expected) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (key, provider) in &plan.configuration.provider_config {
        let full = if provider.full_name.is_empty() {
            &provider.name
        } else {
            &provider.full_name
        };
        if reach(full) == Reach::Proven {
            offences.extend(identity(key, provider));
            offences.extend(region(plan, key, provider, expected));
        }
    }
    offences
}

fn identity(key: &str, provider: &ProviderConfig) -> Option<Offence> {
    let set = |name: &&&str| {
        let value = provider.expressions.get(**name);
        value.is_some_and(|value| value != &Value::Array(Vec::new()))
    };
    let name = OWN_IDENTITY.iter().find(set)?;
    Some(Offence::new(
        &format!("provider.{key}"),
        Rule::Identity,
        format!("`{name}` gives the provider an identity or a place that was not proven"),
        format!("remove `{name}`; cp9 hands the session's credentials to Terraform"),
    ))
}

fn region(
    plan: &Plan,
    key: &str,
    provider: &ProviderConfig,
    expected: &Expected,
) -> Option<Offence> {
    let written = provider.expressions.get("region")?;
    let known = constant(written).or_else(|| referred(plan, provider, written));
    let message = match known {
        Some(region) if region == expected.region => return None,
        Some(region) => format!("region `{region}` is not the proven `{}`", expected.region),
        None => "the region is not known before the apply".into(),
    };
    Some(Offence::new(
        &format!("provider.{key}"),
        Rule::Region,
        message,
        "write `region = var.cp9_region`, or leave it out",
    ))
}

fn constant(written: &Value) -> Option<&str> {
    written.get("constant_value")?.as_str()
}

/// The value of the one variable of the root that an expression consists of.
fn referred<'p>(plan: &'p Plan, provider: &ProviderConfig, written: &Value) -> Option<&'p str> {
    let references = written.get("references")?.as_array()?;
    let [one] = references.as_slice() else {
        return None;
    };
    let name = one.as_str()?.strip_prefix("var.")?;
    plan.variable(name)
        .filter(|_| provider.module_address.is_none())
}

/// One resource: its own region and ARN.
pub(super) fn resource(change: &ResourceChange, expected: &Expected) -> Vec<Offence> {
    let mut offences = Vec::new();
    let offence =
        |rule: Rule, what: String, remedy: &str| Offence::new(&change.address, rule, what, remedy);
    for values in [&change.change.before, &change.change.after] {
        let text = |key: &str| values.get(key).and_then(Value::as_str);
        let arn = text("arn").or_else(|| text("id")).and_then(Arn::parse);
        let account = arn.as_ref().and_then(|arn| arn.account);
        if let Some(account) = account.filter(|account| *account != expected.account) {
            let what = format!("account {account} is not the proven {}", expected.account);
            offences.push(offence(
                Rule::Account,
                what,
                "remove it from this substrate",
            ));
        }
        let zone = text("availability_zone").filter(|zone| !zone.starts_with(&expected.region));
        let own = text("region").filter(|_| change.kind != "aws_region");
        let named = [arn.and_then(|arn| arn.region), own, zone];
        let other = named
            .into_iter()
            .flatten()
            .find(|region| !region.is_empty() && !region.starts_with(&expected.region));
        if let Some(region) = other {
            let what = format!("region `{region}` is not the proven `{}`", expected.region);
            let remedy = "leave the region out, so that the provider's counts";
            offences.push(offence(Rule::Region, what, remedy));
        }
    }
    offences
}

/// The parts of an ARN that say where a thing is.
struct Arn<'a> {
    region: Option<&'a str>,
    account: Option<&'a str>,
}

impl<'a> Arn<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.splitn(6, ':');
        if parts.next() != Some("arn") {
            return None;
        }
        let given = |part: &&str| !part.is_empty();
        let (region, account) = (parts.nth(2), parts.next());
        // The owner of managed policies is called `aws`.
        let account = account.filter(given).filter(|account| *account != "aws");
        Some(Self {
            region: region.filter(given),
            account,
        })
    }
}
