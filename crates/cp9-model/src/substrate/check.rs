//! The check of a plan before it is applied, and of what came of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::offence::{Offence, Rule};
use super::plan::{Plan, ProviderConfig, ResourceChange};
use super::state::TerraformState;
use super::tags::SessionTags;
use super::{kinds, names, place, program};
use crate::scope::{TAG_OWNER, TAG_SESSION};

/// What was proven: whose the session is and where it may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The tags of everything.
    pub tags: SessionTags,
    /// The account.
    pub account: String,
    /// The region.
    pub region: String,
}

/// Everything that a plan does and must not, in the order of the addresses.
pub fn check(plan: &Plan, expected: &Expected) -> Vec<Offence> {
    let mut offences = incomplete(plan);
    offences.extend(program::judge(&plan.configuration.root_module));
    offences.extend(place::providers(plan, expected));
    for change in plan.managed() {
        offences.extend(judge(plan, change, expected));
    }
    offences.sort();
    offences.dedup();
    offences
}

fn incomplete(plan: &Plan) -> Vec<Offence> {
    if !plan.errored && plan.complete != Some(false) {
        return Vec::new();
    }
    vec![Offence::new(
        "plan",
        Rule::Incomplete,
        "the plan does not show everything that it leads to",
        "mend what the plan log says, or take out what is put off to a later plan",
    )]
}

fn judge(plan: &Plan, change: &ResourceChange, expected: &Expected) -> Vec<Offence> {
    if let Some(offence) = kinds::judge(change) {
        return vec![offence];
    }
    let mut offences: Vec<Offence> = foreign(change, expected).into_iter().collect();
    if kinds::reach(&change.provider_name) != kinds::Reach::Proven {
        return offences;
    }
    offences.extend(place::resource(change, expected));
    // What is left alone was judged when it was made, and its tags are looked at again in the state.
    if change.change.makes() || change.change.changes() {
        offences.extend(tags(plan, change, expected));
        offences.extend(name(change, expected));
    }
    offences
}

/// Something that was made elsewhere, or that a plan would leave behind.
fn foreign(change: &ResourceChange, expected: &Expected) -> Option<Offence> {
    let offence = |message: String, remedy: &str| {
        Some(Offence::new(
            &change.address,
            Rule::Foreign,
            message,
            remedy,
        ))
    };
    if change
        .change
        .importing
        .as_ref()
        .is_some_and(|i| !i.is_null())
    {
        return offence(
            "an existing resource would be taken into the session, and destroyed with it".into(),
            "remove the `import` block; read it through a `data` source",
        );
    }
    if change
        .change
        .actions
        .iter()
        .any(|action| action == "forget")
    {
        return offence(
            "a resource would be left behind that no state knows".into(),
            "remove the `removed` block, so that the resource is destroyed",
        );
    }
    if change.change.actions.iter().all(|action| action == "no-op") {
        return None;
    }
    let before = tag_map(&change.change.before)?;
    let other = [
        (TAG_OWNER, expected.tags.owner.as_str()),
        (TAG_SESSION, expected.tags.session.as_str()),
    ]
    .into_iter()
    .find_map(|(key, ours)| {
        before
            .get(key)
            .filter(|value| *value != ours)
            .map(|v| (key, v))
    });
    let (key, value) = other?;
    offence(
        format!("it is tagged `{key}: {value}` and so belongs to another session"),
        "take it out of the state with `terraform state rm`, after asking its owner",
    )
}

/// The four tags, as far as the plan knows them.
fn tags(plan: &Plan, change: &ResourceChange, expected: &Expected) -> Option<Offence> {
    let (after, unknown) = (&change.change.after, &change.change.after_unknown);
    if ["tags_all", "tags", "tag"]
        .iter()
        .all(|key| !has(after, unknown, key))
    {
        return None;
    }
    let mut known = tag_map(after).unwrap_or_default();
    let open = is_open(unknown, "tags_all") || (is_open(unknown, "tags") && known.is_empty());
    if open {
        // What the provider adds to every resource counts where the plan cannot show the sum.
        let defaults = provider_of(plan, change).map(|provider| default_tags(plan, provider));
        for (key, value) in defaults.unwrap_or_default() {
            known.entry(key).or_insert(value);
        }
    }
    let wrong = wrong(&known, &expected.tags)?;
    let why = if open {
        ", as far as the plan knows"
    } else {
        ""
    };
    Some(Offence::new(
        &change.address,
        Rule::Tags,
        format!("{wrong}{why}"),
        "give the provider `default_tags { tags = var.cp9_tags }`, and let no resource override them",
    ))
}

fn wrong(known: &BTreeMap<String, String>, tags: &SessionTags) -> Option<String> {
    let mut missing = Vec::new();
    for (key, value) in tags.map() {
        match known.get(key) {
            None => missing.push(format!("`{key}`")),
            Some(other) if other != value => {
                return Some(format!("tag `{key}` is `{other}`, not `{value}`"));
            }
            Some(_) => {}
        }
    }
    (!missing.is_empty()).then(|| format!("no tag {}", missing.join(", ")))
}

/// The tags among a resource's attributes; none if it cannot be tagged.
pub(super) fn tag_map(attributes: &Value) -> Option<BTreeMap<String, String>> {
    let written = attributes.get("tags_all").filter(|all| !all.is_null());
    let tags = written.or_else(|| attributes.get("tags"));
    let tags = tags.or_else(|| attributes.get("tag"))?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(match tags {
        Value::Object(map) => map
            .iter()
            .filter_map(|(key, value)| Some((key.clone(), text(value)?)))
            .collect(),
        Value::Array(list) => list
            .iter()
            .filter_map(|one| Some((text(one.get("key")?)?, text(one.get("value")?)?)))
            .collect(),
        _ => BTreeMap::new(),
    })
}

fn has(after: &Value, unknown: &Value, key: &str) -> bool {
    after.get(key).is_some() || is_open(unknown, key)
}

/// True if a value, or a part of it, is known only after the apply.
fn is_open(unknown: &Value, key: &str) -> bool {
    match unknown.get(key) {
        Some(Value::Bool(open)) => *open,
        Some(Value::Object(parts)) => parts.values().any(|part| part == &Value::Bool(true)),
        _ => false,
    }
}

/// The configuration of the provider that a resource uses.
fn provider_of<'p>(plan: &'p Plan, change: &ResourceChange) -> Option<&'p ProviderConfig> {
    let declared = program::declared(&plan.configuration.root_module, &change.address);
    let key = declared.and_then(|declared| declared.provider_config_key.as_deref());
    let providers = &plan.configuration.provider_config;
    // A module that is given its provider from above names a key of its own that is configured nowhere.
    let bare = key.map(|key| key.rsplit(':').next().unwrap_or(key));
    key.and_then(|key| providers.get(key))
        .or_else(|| bare.and_then(|key| providers.get(key)))
}

fn default_tags(plan: &Plan, provider: &ProviderConfig) -> BTreeMap<String, String> {
    let block = provider.expressions.get("default_tags");
    let tags = block
        .and_then(|block| block.get(0))
        .and_then(|one| one.get("tags"));
    let constant = tags.and_then(|tags| tags.get("constant_value"));
    let referred = || {
        let references = tags?.get("references")?.as_array()?;
        let root = provider.module_address.is_none();
        let names = |reference: &Value| reference.as_str() == Some("var.cp9_tags");
        let variable = plan
            .variables
            .get("cp9_tags")
            .map(|variable| &variable.value);
        variable.filter(|_| root && references.iter().any(names))
    };
    let map = constant.or_else(referred).and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    map.map(|map| map.iter().filter_map(text).collect())
        .unwrap_or_default()
}

fn name(change: &ResourceChange, expected: &Expected) -> Option<Offence> {
    let (after, unknown) = (&change.change.after, &change.change.after_unknown);
    let named = names::of(&change.kind, |key| has(after, unknown, key))?;
    let session = expected.tags.session.as_str();
    let text = |key: &str| {
        after
            .get(key)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    };
    let prefix = named.prefix.and_then(text);
    let given = text(named.attribute).or(prefix);
    let attribute = named.attribute;
    let message = match given {
        Some(name) if names::bears(session, name, named.limit) => return None,
        Some(name) => format!("`{attribute}` is `{name}`, which does not begin with `{session}`"),
        None => format!("`{attribute}` is made up during the apply, without `{session}` in front"),
    };
    let cut = if named.limit < 256 {
        format!("; {} characters at most, cut with a hash", named.limit)
    } else {
        String::new()
    };
    let remedy = format!("begin `{attribute}` with `${{var.cp9_session}}-`{cut}");
    Some(Offence::new(&change.address, Rule::Name, message, remedy))
}

/// What stands in a state without the four tags, for the look after an apply.
pub fn untagged(state: &TerraformState, expected: &SessionTags) -> Vec<Offence> {
    let mut offences = Vec::new();
    for resource in &state.resources {
        let tags = resource.tags.as_ref();
        let Some(wrong) = tags.and_then(|tags| wrong(tags, expected)) else {
            continue;
        };
        if kinds::reach(&resource.provider) == kinds::Reach::Proven {
            offences.push(Offence::new(
                &resource.address,
                Rule::Tags,
                wrong,
                "give the provider `default_tags { tags = var.cp9_tags }`",
            ));
        }
    }
    offences
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
