//! A Terraform state of format 4: serial, outputs and resources. Read from the file itself, so that a
//! destroy knows what exists also where no Terraform can be run.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::check::tag_map;
use super::names;
use super::plan::Unreadable;

/// What a state says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TerraformState {
    /// Which state it is, through all its versions.
    pub lineage: String,
    /// Its version.
    pub serial: u64,
    /// Outputs by name.
    pub outputs: BTreeMap<String, Value>,
    /// The resources that Terraform manages.
    pub resources: Vec<StateResource>,
}

/// One resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateResource {
    /// Its address.
    pub address: String,
    /// Its type.
    pub kind: String,
    /// The address of its provider.
    pub provider: String,
    /// The provider's id.
    pub id: Option<String>,
    /// Its ARN.
    pub arn: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its tags, if it can have any.
    pub tags: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct Document {
    version: u64,
    #[serde(default)]
    serial: u64,
    #[serde(default)]
    lineage: String,
    #[serde(default)]
    outputs: BTreeMap<String, Value>,
    #[serde(default)]
    resources: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    module: Option<String>,
    #[serde(default)]
    mode: String,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    #[serde(default)]
    index_key: Value,
    #[serde(default)]
    attributes: Value,
    /// The key of an old object that waits for its end.
    #[serde(default)]
    deposed: Option<String>,
}

impl StateResource {
    /// True if this is its id or its ARN.
    pub fn is(&self, id: &str) -> bool {
        self.id.as_deref() == Some(id) || self.arn.as_deref() == Some(id)
    }
}

impl TerraformState {
    /// Reads the file; one that is empty says nothing, as an interrupted first write leaves it so.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        let document: Document =
            serde_json::from_slice(bytes).map_err(|source| Unreadable::Malformed {
                what: "state",
                source,
            })?;
        if document.version != 4 {
            return Err(Unreadable::Format {
                what: "state",
                found: document.version.to_string(),
                known: "4",
            });
        }
        let managed = document.resources.iter().filter(|b| b.mode != "data");
        let resources = managed.flat_map(|block| {
            let instances = block.instances.iter();
            instances.map(|instance| resource(block, instance))
        });
        Ok(Self {
            lineage: document.lineage,
            serial: document.serial,
            resources: resources.collect(),
            outputs: document.outputs,
        })
    }

    /// The resource at an address.
    pub fn at(&self, address: &str) -> Option<&StateResource> {
        self.resources.iter().find(|one| one.address == address)
    }
}

fn resource(block: &Block, instance: &Instance) -> StateResource {
    let module = block.module.as_ref().map(|module| format!("{module}."));
    let key = match &instance.index_key {
        Value::Null => String::new(),
        key => format!("[{key}]"),
    };
    let deposed = instance.deposed.as_ref();
    let deposed = deposed.map(|key| format!(" (deposed object {key})"));
    let text = |name: &str| {
        let value = instance.attributes.get(name).and_then(Value::as_str);
        value.map(str::to_owned)
    };
    let named = names::of(&block.kind, |key| instance.attributes.get(key).is_some());
    StateResource {
        address: format!(
            "{}{}.{}{key}{}",
            module.unwrap_or_default(),
            block.kind,
            block.name,
            deposed.unwrap_or_default()
        ),
        kind: block.kind.clone(),
        provider: provider(&block.provider),
        id: text("id"),
        arn: text("arn"),
        name: named.and_then(|named| text(named.attribute)),
        tags: tag_map(&instance.attributes),
    }
}

/// `module.m.provider["registry.terraform.io/hashicorp/aws"].alias` names the address in quotes.
fn provider(text: &str) -> String {
    text.split('"').nth(1).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_have_addresses_ids_names_and_tags() {
        let text = br#"{"version":4,"serial":7,"lineage":"l","outputs":{"o":{"value":1,"type":"number"}},
            "resources":[
              {"mode":"data","type":"aws_caller_identity","name":"me","provider":"p","instances":[{"attributes":{"id":"1"}}]},
              {"module":"module.m[\"k\"]","mode":"managed","type":"aws_sqs_queue","name":"q",
               "provider":"provider[\"registry.terraform.io/hashicorp/aws\"].west",
               "instances":[
                 {"index_key":"a","attributes":{"id":"https://q","name":"demo-a","arn":"arn:x","tags":{"a":"1"},"tags_all":{"a":"1","b":"2"}}},
                 {"index_key":0,"deposed":"01ab","attributes":{"id":"old","name":null}}]}]}"#;
        let state = TerraformState::parse(text).expect("a state");
        assert_eq!((state.serial, state.lineage.as_str()), (7, "l"));
        let addresses: Vec<_> = state.resources.iter().map(|r| r.address.as_str()).collect();
        assert_eq!(
            addresses,
            [
                r#"module.m["k"].aws_sqs_queue.q["a"]"#,
                r#"module.m["k"].aws_sqs_queue.q[0] (deposed object 01ab)"#
            ]
        );
        let queue = &state.resources[0];
        assert_eq!(queue.provider, "registry.terraform.io/hashicorp/aws");
        assert_eq!(queue.name.as_deref(), Some("demo-a"));
        assert_eq!(queue.tags.as_ref().map(BTreeMap::len), Some(2));
        assert!(state.at(addresses[0]).is_some());
    }

    #[test]
    fn an_empty_file_is_an_empty_state_and_another_format_is_refused() {
        assert_eq!(
            TerraformState::parse(b" \n").expect("empty"),
            TerraformState::default()
        );
        for bad in [&b"{"[..], b"[]", br#"{"version":3}"#, br#"{"version":"4"}"#] {
            assert!(TerraformState::parse(bad).is_err(), "{bad:?}");
        }
    }
}
