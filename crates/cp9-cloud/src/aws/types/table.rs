//! The whole table, and what it says about kinds, ARNs and ids.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use cp9_model::reaper::{GLOBAL, Key, Rule};

use super::arn::{ArnPattern, Parts};
use super::read::{TableError, table};
use super::row::{Row, Scope, Service};
use crate::aws::partition::Partition;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("table/", $name)))),*]
    };
}

const FILES: [(&str, &str); 15] = files!(
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

static EMBEDDED: LazyLock<Table> =
    LazyLock::new(|| table(&FILES).expect("the tests read the table that is built in"));

/// One type, ready for use.
#[derive(Debug, Clone)]
pub struct Type {
    /// As the file has it.
    pub row: Row,
    /// Its ARN.
    pub arn: ArnPattern,
    /// The service that is asked.
    pub service: String,
    /// How that is spoken to.
    pub wire: Service,
}

/// Where an answer came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The region that was asked.
    pub region: String,
    /// The account.
    pub account: String,
}

/// Every type that is known.
#[derive(Debug, Clone)]
pub struct Table {
    types: Vec<Type>,
    kinds: BTreeMap<String, usize>,
}

impl Place {
    /// What every call may name.
    pub fn parts(&self) -> Parts {
        let partition = Partition::of_region(&self.region);
        let own = [
            ("region", self.region.as_str()),
            ("account", &self.account),
            ("partition", partition.name),
            ("suffix", partition.suffix),
        ];
        let own = own
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        own.collect()
    }
}

impl Table {
    /// The table that is built in.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    pub(super) fn of(types: Vec<Type>) -> Result<Self, TableError> {
        let mut kinds = BTreeMap::new();
        for (index, one) in types.iter().enumerate() {
            let kind = one.row.kind.clone();
            if kinds.insert(kind.clone(), index).is_some() {
                let why = "is there twice".to_owned();
                return Err(TableError::Row { kind, why });
            }
        }
        let table = Self { types, kinds };
        for one in &table.types {
            if let Some(other) = one.named().find(|other| table.kind(other).is_none()) {
                let kind = one.row.kind.clone();
                let why = format!("names `{other}`, which is not in the table");
                return Err(TableError::Row { kind, why });
            }
        }
        Ok(table)
    }

    /// Every type.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        self.types.iter()
    }

    /// The type of a kind.
    pub fn kind(&self, kind: &str) -> Option<&Type> {
        Some(&self.types[*self.kinds.get(kind)?])
    }

    /// The type of an ARN, and its parts.
    pub fn of_arn(&self, arn: &str) -> Option<(&Type, Parts)> {
        let fitting = self
            .types
            .iter()
            .filter_map(|one| Some((one, one.arn.read(arn)?)));
        fitting.max_by_key(|(one, _)| one.arn.weight())
    }

    /// The type of an id such as `vpc-1`.
    pub fn of_id(&self, id: &str) -> Option<&Type> {
        let fitting = self.types.iter().filter_map(|one| {
            let prefix = one
                .row
                .prefix
                .as_deref()
                .filter(|prefix| id.starts_with(*prefix))?;
            Some((one, prefix.len()))
        });
        let (one, _) = fitting.max_by_key(|(_, length)| *length)?;
        Some(one)
    }

    /// The key of an ARN. That of a bucket does not tell the region, so that it has none.
    pub fn key(&self, arn: &str) -> Option<Key> {
        let (one, parts) = self.of_arn(arn)?;
        one.key(&parts, "")
    }

    /// The key of another object by how a description names it: an ARN, an id or a name.
    pub fn other(&self, kind: &str, named: &str, place: &Place) -> Option<Key> {
        let one = self.kind(kind)?;
        // Log groups are named with all of their streams.
        let named = named.strip_suffix(":*").unwrap_or(named);
        if named.starts_with("arn:") {
            let parts = one.arn.read(named)?;
            return one.key(&parts, &place.region);
        }
        let name = one.arn.names().last()?.to_owned();
        let mut parts = place.parts();
        let named = if one.arn.ends_open() {
            named
        } else {
            named.rsplit('/').next().unwrap_or(named)
        };
        parts.insert(name, named.to_owned());
        one.key(&parts, &place.region)
    }

    /// What the table says about a kind to those who order deletions.
    pub fn rule(&self, kind: &str) -> Option<Rule<'_>> {
        let row = &self.kind(kind)?.row;
        Some(Rule {
            after: &row.after,
            budget: Duration::from_secs(row.budget),
            poll: Duration::from_secs(row.poll),
            at_once: row.at_once,
        })
    }
}

impl Type {
    /// True when its ids are unique by themselves, so that no ARN is needed.
    pub fn has_ids(&self) -> bool {
        self.arn.names().any(|name| name == "id")
    }

    /// Every kind that the row names.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        let row = &self.row;
        let ours = row.delete.iter().filter_map(|step| step.ours.as_ref());
        let uses = row.uses.keys().map(String::as_str);
        let inside = row.inside.iter().map(|inside| inside.kind.as_str());
        let after = row.after.iter().map(String::as_str);
        let blockers = row.blockers.iter().map(|one| one.kind.as_str());
        let others = ours.map(|other| other.kind.as_str());
        uses.chain(inside)
            .chain(after)
            .chain(blockers)
            .chain(others)
    }

    /// The key of parts that were read off an ARN or a description in a region.
    pub fn key(&self, parts: &Parts, region: &str) -> Option<Key> {
        let id = match parts.get("id").filter(|_| self.has_ids()) {
            Some(id) => id.clone(),
            None => self.arn.write(parts)?,
        };
        let named = parts.get("region").map(String::as_str);
        let region = match self.row.scope {
            Scope::Global => GLOBAL,
            Scope::Regional => named.filter(|named| !named.is_empty()).unwrap_or(region),
        };
        (!region.is_empty()).then(|| Key::new(region, self.row.kind.clone(), id))
    }

    /// The parts of a key: what calls about the object are filled with.
    pub fn parts(&self, key: &Key, place: &Place) -> Option<Parts> {
        let mut parts = place.parts();
        if self.has_ids() && !key.id.starts_with("arn:") {
            parts.insert("id".into(), key.id.clone());
            if let Some(arn) = self.arn.write(&parts) {
                parts.insert("arn".into(), arn);
            }
            return Some(parts);
        }
        parts.extend(self.arn.read(&key.id)?);
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            region: "eu-west-1".into(),
            account: "123456789012".into(),
        }
    }

    #[test]
    fn arns_and_ids_have_one_kind() {
        let table = Table::embedded();
        for (arn, kind, id) in [
            (
                "arn:aws:ec2:eu-west-1:1:natgateway/nat-1",
                "ec2:natgateway",
                "nat-1",
            ),
            (
                "arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/app/a/b",
                "elasticloadbalancing:loadbalancer",
                "arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/app/a/b",
            ),
            (
                "arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/a",
                "elasticloadbalancing:classic-loadbalancer",
                "arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/a",
            ),
            (
                "arn:aws:sns:eu-west-1:1:t",
                "sns:topic",
                "arn:aws:sns:eu-west-1:1:t",
            ),
            (
                "arn:aws:sns:eu-west-1:1:t:u",
                "sns:subscription",
                "arn:aws:sns:eu-west-1:1:t:u",
            ),
            ("arn:aws:kms:eu-west-1:1:key/k", "kms:key", "k"),
        ] {
            let key = table.key(arn).expect("a key");
            assert_eq!(
                (key.kind.as_str(), key.id.as_str(), key.region.as_str()),
                (kind, id, "eu-west-1")
            );
        }
        let role = table.key("arn:aws:iam::1:role/a/b").expect("a key");
        assert_eq!(
            (role.region.as_str(), role.kind.as_str()),
            (GLOBAL, "iam:role")
        );
        assert_eq!(table.key("arn:aws:quantum:eu-west-1:1:cat/1"), None);
        let kind = |id| table.of_id(id).map(|one| one.row.kind.as_str());
        assert_eq!(kind("tgw-attach-1"), Some("ec2:transit-gateway-attachment"));
        assert_eq!(kind("tgw-1"), Some("ec2:transit-gateway"));
        assert_eq!(kind("zebra-1"), None);
    }

    #[test]
    fn others_are_named_in_every_way() {
        let table = Table::embedded();
        let other = |kind, named| table.other(kind, named, &place()).map(|key| key.id);
        assert_eq!(other("ec2:subnet", "subnet-1").as_deref(), Some("subnet-1"));
        assert_eq!(
            other("iam:role", "ann").as_deref(),
            Some("arn:aws:iam::123456789012:role/ann")
        );
        assert_eq!(
            other("iam:role", "arn:aws:iam::9:role/x/ann").as_deref(),
            Some("arn:aws:iam::9:role/x/ann")
        );
        assert_eq!(
            other("kms:key", "arn:aws:kms:eu-west-1:1:key/k").as_deref(),
            Some("k")
        );
        assert_eq!(other("kms:key", "arn:aws:sqs:eu-west-1:1:q"), None);
        // What a single name cannot tell is not guessed.
        assert_eq!(other("eks:nodegroup", "workers"), None);
    }

    #[test]
    fn keys_give_back_what_calls_need() {
        let table = Table::embedded();
        let parts = |key: &str| {
            let key = table.key(key).expect("a key");
            table
                .kind(&key.kind)
                .expect("a kind")
                .parts(&key, &place())
                .expect("parts")
        };
        let vpc = parts("arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1");
        assert_eq!(vpc["arn"], "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1");
        let group = parts("arn:aws:eks:eu-west-1:123456789012:nodegroup/c/n/u");
        assert_eq!(
            (group["cluster"].as_str(), group["name"].as_str()),
            ("c", "n")
        );
    }
}
