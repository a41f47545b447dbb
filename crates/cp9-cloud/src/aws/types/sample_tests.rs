//! Every type on a sample: what is asked, what the answer shows, what its deletion calls.

use std::collections::BTreeMap;

use cp9_model::reaper::{Key, Life};
use cp9_model::yaml::{Options, parse_bytes};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arn::Parts;
use super::fill::{Filling, call_of};
use super::item::{items, show};
use super::row::{Ask, TagSource};
use super::step::{Procedure, Step};
use super::table::{Place, Table, Type};
use crate::aws::protocol::{ApiCall, Body, Protocol};

macro_rules! samples {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("samples/", $name)))),*]
    };
}

const SAMPLES: [(&str, &str); 15] = samples!(
    "analysis.yaml",
    "balancing-classic.yaml",
    "balancing.yaml",
    "data.yaml",
    "ec2-compute.yaml",
    "ec2-network.yaml",
    "ecs.yaml",
    "edge.yaml",
    "eks.yaml",
    "identity.yaml",
    "mesh.yaml",
    "rds.yaml",
    "serverless.yaml",
    "storage.yaml",
    "watching.yaml",
);

/// One type's sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    arn: String,
    ask: String,
    reply: Value,
    found: Want,
    tags: Option<String>,
    delete: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Want {
    id: String,
    created: Option<String>,
    #[serde(default)]
    tags: bool,
    #[serde(default)]
    uses: Vec<String>,
    inside: Option<String>,
}

fn place() -> Place {
    Place {
        region: "eu-west-1".into(),
        account: "123456789012".into(),
    }
}

fn samples() -> BTreeMap<String, Sample> {
    let mut all = BTreeMap::new();
    for (file, text) in SAMPLES {
        let documents = parse_bytes(file, text.as_bytes(), Options::config()).expect("YAML");
        let samples = serde_json::from_value(documents[0].to_json());
        let samples: BTreeMap<String, Sample> =
            samples.unwrap_or_else(|error| panic!("{file}: {error}"));
        all.extend(samples);
    }
    all
}

fn each(test: impl Fn(&Type, &Sample, &Parts)) {
    let samples = samples();
    for one in Table::embedded().types() {
        let kind = &one.row.kind;
        let sample = samples
            .get(kind)
            .unwrap_or_else(|| panic!("`{kind}` has no sample"));
        let parts = one
            .arn
            .read(&sample.arn)
            .unwrap_or_else(|| panic!("{} of {kind}", sample.arn));
        let parts = place().parts().into_iter().chain(parts).collect();
        test(one, sample, &parts);
    }
    assert_eq!(
        samples.len(),
        Table::embedded().types().count(),
        "samples of types that are not there"
    );
}

/// A call in one line.
fn spelt(call: &ApiCall) -> String {
    let head = format!("{} {}", call.service, call.operation);
    let pairs = |between: &str| {
        let pairs = call
            .params
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join(between)
    };
    let body = match &call.body {
        Body::Json(value) => format!(" {value}"),
        _ => String::new(),
    };
    match call.protocol {
        Protocol::Query | Protocol::Ec2 => format!("{head} {}", pairs(" ")).trim_end().to_owned(),
        Protocol::Json10 | Protocol::Json11 => format!("{head}{body}"),
        Protocol::RestJson | Protocol::RestXml => {
            let bucket = call.bucket.iter().map(|bucket| format!("@{bucket} "));
            let query = if call.params.is_empty() {
                String::new()
            } else {
                format!("?{}", pairs("&"))
            };
            let bucket: String = bucket.collect();
            format!("{head} {} {bucket}{}{query}{body}", call.method, call.path)
        }
    }
}

fn asked(one: &Type, ask: &Ask, filling: Filling<'_>) -> String {
    let name = if one.has_ids() { "id" } else { "name" };
    spelt(&call_of(&one.service, &one.wire, ask, name, filling))
}

fn named(key: &Key) -> String {
    format!("{} {}", key.kind, key.id)
}

#[test]
fn every_type_is_asked_for_and_shown() {
    each(|one, sample, parts| {
        let (kind, ask) = (&one.row.kind, &one.row.describe);
        assert_eq!(asked(one, ask, Filling::of(parts)), sample.ask, "{kind}");
        let found = items(&sample.reply, ask.at.as_deref().unwrap_or_default());
        assert_eq!(found.len(), 1, "{kind}");
        let alone = (ask.most.unwrap_or(1) == 1).then_some(parts);
        let shown = show(Table::embedded(), one, found[0], &place(), alone);
        let found = shown.unwrap_or_else(|| panic!("{kind} is not shown")).found;
        assert_eq!((&found.key.kind, &found.key.id), (kind, &sample.found.id));
        assert_eq!(found.arn.as_deref(), Some(sample.arn.as_str()), "{kind}");
        let mut uses: Vec<String> = found.uses.iter().map(named).collect();
        uses.sort();
        assert_eq!(uses, sample.found.uses, "{kind}");
        if let Some(inside) = &sample.found.inside {
            assert_eq!(
                found.inside.as_ref().map(named).as_ref(),
                Some(inside),
                "{kind}"
            );
        }
        let created = found.created.map(|created| created.to_string());
        assert_eq!(created, sample.found.created, "{kind}");
        let want = json!({"cp9-owner": "ann@example.com", "cp9-session": "shop"});
        let want = sample.found.tags.then_some(want);
        let tags = found.tags.filter(|tags| !tags.is_empty());
        assert_eq!(tags.map(|tags| json!(tags)), want, "{kind}");
        assert_eq!(found.life, Life::Alive, "{kind}");
    });
}

#[test]
fn every_state_has_its_meaning() {
    each(|one, sample, parts| {
        let is = &one.row.is;
        let ending = is.ending.iter().map(|state| (state, Life::Ending));
        let terminal = is.terminal.iter().map(|state| (state, Life::Terminal));
        for (state, life) in ending.chain(terminal).filter(|(state, _)| *state != "*") {
            let reply = sample.reply.to_string();
            assert!(
                reply.contains("alive-state"),
                "{} has no state in its sample",
                one.row.kind
            );
            let reply: Value = serde_json::from_str(&reply.replace("alive-state", state)).unwrap();
            let at = one.row.describe.at.as_deref().unwrap_or_default();
            let shown = show(
                Table::embedded(),
                one,
                items(&reply, at)[0],
                &place(),
                Some(parts),
            );
            assert_eq!(
                shown.map(|shown| shown.found.life),
                Some(life),
                "{} {state}",
                one.row.kind
            );
        }
    });
}

#[test]
fn every_type_is_deleted_by_its_calls() {
    each(|one, sample, parts| {
        let at = one.row.describe.at.as_deref().unwrap_or_default();
        let shown = show(
            Table::embedded(),
            one,
            items(&sample.reply, at)[0],
            &place(),
            Some(parts),
        );
        let facts = shown
            .and_then(|shown| shown.found.facts)
            .unwrap_or_default();
        let filling = Filling::of(parts).item(&facts);
        let calls = one
            .row
            .delete
            .iter()
            .flat_map(|step| deleted(one, step, filling));
        assert_eq!(calls.collect::<Vec<_>>(), sample.delete, "{}", one.row.kind);
        let tags = match &one.row.is.tags {
            Some(TagSource::Asked(ask)) => Some(asked(one, ask, filling)),
            _ => None,
        };
        assert_eq!(tags, sample.tags, "{}", one.row.kind);
    });
}

fn deleted(one: &Type, step: &Step, filling: Filling<'_>) -> Vec<String> {
    let procedure = step.procedure.map(|procedure| match procedure {
        Procedure::EmptyBucket => "empty-bucket",
        Procedure::EmptyZone => "empty-zone",
        Procedure::DisableDistribution => "disable-distribution",
    });
    if let Some(procedure) = procedure {
        return vec![procedure.to_owned()];
    }
    let call = step.ask();
    let Some(list) = &step.list else {
        return vec![asked(one, &call, filling)];
    };
    let item = made_up(step);
    vec![
        format!("each of {}", asked(one, list, filling)),
        asked(one, &call, filling.item(&item)),
    ]
}

/// An item that has what the step takes from it.
fn made_up(step: &Step) -> Value {
    let text = format!("{}{}", step.input, step.call);
    let names = text
        .split("{.")
        .skip(1)
        .filter_map(|rest| rest.split('}').next());
    let fields = names.map(|name| {
        (
            name.to_owned(),
            json!(format!("item-{}", name.to_lowercase())),
        )
    });
    let fields: serde_json::Map<String, Value> = fields.collect();
    if fields.contains_key("") {
        json!("item")
    } else {
        Value::Object(fields)
    }
}
