//! What is known of each resource while a plan is applied: planned, begun, done. It names what was created
//! and is in no state.

use serde::{Deserialize, Serialize};

use super::kinds::{Reach, reach};
use super::names;
use super::plan::Plan;
use super::state::TerraformState;

/// How far a resource has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceStatus {
    /// An apply that was begun may make it.
    Planned,
    /// Its creation was begun and no end was seen.
    Creating,
    /// Its creation was reported as failed; something may exist all the same.
    Failed,
    /// It was created.
    Created,
}

/// One resource that exists, or may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its address in the root module.
    pub address: String,
    /// Its type.
    pub kind: String,
    /// Its name, planned or real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its ARN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arn: Option<String>,
    /// How far it has come.
    pub status: ResourceStatus,
    /// True if the state knows it.
    pub in_state: bool,
}

/// What the progress of an apply or a destroy says of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its address.
    pub address: String,
    /// `create`, `update`, `delete`, `read`.
    pub action: String,
    /// What happened.
    pub kind: StepKind,
    /// The provider's id, once there is one.
    pub id: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// Begun.
    Started,
    /// Done.
    Completed,
    /// Failed.
    Failed,
}

impl Plan {
    /// What it will make outside, by the names that it knows.
    pub fn makes(&self) -> Vec<Resource> {
        let outside = |provider: &str| reach(provider) != Reach::Inner;
        let made = self.managed().filter(|change| change.change.makes());
        made.filter(|change| outside(&change.provider_name))
            .map(|change| {
                let after = &change.change.after;
                let named = names::of(&change.kind, |key| after.get(key).is_some());
                let name = named.and_then(|named| after.get(named.attribute)?.as_str());
                Resource {
                    address: change.address.clone(),
                    kind: change.kind.clone(),
                    name: name.map(str::to_owned),
                    id: None,
                    arn: None,
                    status: ResourceStatus::Planned,
                    in_state: false,
                }
            })
            .collect()
    }
}

/// Everything known of a substrate's resources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Track {
    /// By address, in the order they were learned.
    pub resources: Vec<Resource>,
}

impl Track {
    /// Takes in what a plan will make. What was begun before and never seen in a state stays as it is.
    pub fn plan(&mut self, made: &[Resource]) {
        for one in made {
            let known = self.find(&one.address).is_some_and(|one| !one.in_state);
            if !known {
                self.resources.push(one.clone());
            }
        }
    }

    /// Takes in a step; true if anything changed.
    pub fn step(&mut self, step: &Step) -> bool {
        let before = self.clone();
        match (step.action.as_str(), step.kind) {
            ("create", kind) => self.created(step, kind),
            ("delete", StepKind::Completed) => {
                let gone = |one: &Resource| {
                    let same = step.id.is_none() || one.id.is_none() || one.id == step.id;
                    one.address == step.address && one.in_state && same
                };
                self.resources.retain(|one| !gone(one));
            }
            _ => {}
        }
        *self != before
    }

    fn created(&mut self, step: &Step, kind: StepKind) {
        let Some(one) = self
            .resources
            .iter_mut()
            .find(|one| one.address == step.address && !one.in_state)
        else {
            return;
        };
        one.status = match kind {
            StepKind::Started => ResourceStatus::Creating,
            StepKind::Completed => ResourceStatus::Created,
            StepKind::Failed => ResourceStatus::Failed,
        };
        if step.id.is_some() {
            one.id.clone_from(&step.id);
        }
    }

    /// Takes in a state: what it knows exists; what was known from an earlier state and is gone from this
    /// one is forgotten; what it never knew stays if its creation was begun.
    pub fn settle(&mut self, state: &TerraformState) {
        let unknown = |one: &Resource| {
            let begun = one.status != ResourceStatus::Planned;
            let same = |other: &super::StateResource| {
                other.address == one.address && (one.id.is_none() || one.id == other.id)
            };
            !one.in_state && begun && !state.resources.iter().any(same)
        };
        self.resources.retain(unknown);
        let outside = |provider: &str| reach(provider) != Reach::Inner;
        let known = state.resources.iter().filter(|one| outside(&one.provider));
        self.resources.extend(known.map(|one| Resource {
            address: one.address.clone(),
            kind: one.kind.clone(),
            name: one.name.clone(),
            id: one.id.clone(),
            arn: one.arn.clone(),
            status: ResourceStatus::Created,
            in_state: true,
        }));
    }

    /// What may exist although no state knows it.
    pub fn orphans(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|one| !one.in_state)
    }

    fn find(&self, address: &str) -> Option<&Resource> {
        let last = self.resources.iter().rev();
        let mut same = last.filter(|one| one.address == address);
        same.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(names: &[&str]) -> Plan {
        let changes: Vec<_> = names
            .iter()
            .map(|name| {
                serde_json::json!({
                    "address": format!("aws_sqs_queue.{name}"), "mode": "managed", "type": "aws_sqs_queue",
                    "provider_name": "registry.terraform.io/hashicorp/aws",
                    "change": {"actions": ["create"], "before": null, "after": {"name": format!("demo-{name}")}}
                })
            })
            .collect();
        let plan = serde_json::json!({"format_version": "1.2", "resource_changes": changes});
        Plan::parse(plan.to_string().as_bytes()).expect("a plan")
    }

    fn state(entries: &[(&str, &str)]) -> TerraformState {
        let resources = entries
            .iter()
            .map(|(name, id)| super::super::StateResource {
                address: format!("aws_sqs_queue.{name}"),
                kind: "aws_sqs_queue".into(),
                provider: "registry.terraform.io/hashicorp/aws".into(),
                id: Some((*id).into()),
                ..Default::default()
            });
        TerraformState {
            resources: resources.collect(),
            ..TerraformState::default()
        }
    }

    fn step(name: &str, action: &str, kind: StepKind, id: Option<&str>) -> Step {
        Step {
            address: format!("aws_sqs_queue.{name}"),
            action: action.into(),
            kind,
            id: id.map(str::to_owned),
        }
    }

    #[test]
    fn what_was_begun_and_is_in_no_state_is_an_orphan_by_name() {
        let mut track = Track::default();
        track.plan(&plan(&["a", "b", "c"]).makes());
        assert_eq!(track.orphans().count(), 3, "an apply may have begun them");
        assert!(track.step(&step("a", "create", StepKind::Started, None)));
        assert!(track.step(&step("a", "create", StepKind::Completed, Some("u-a"))));
        assert!(track.step(&step("b", "create", StepKind::Started, None)));
        assert!(!track.step(&step("b", "create", StepKind::Started, None)));
        assert!(!track.step(&step("z", "create", StepKind::Started, None)));
        track.settle(&state(&[("a", "u-a")]));
        let orphans: Vec<_> = track.orphans().collect();
        assert_eq!(orphans.len(), 1, "{orphans:?}");
        assert_eq!(orphans[0].name.as_deref(), Some("demo-b"));
        assert_eq!(orphans[0].status, ResourceStatus::Creating);
        track.plan(&plan(&["b"]).makes());
        assert_eq!(track.orphans().count(), 1, "planned again, still one");
        track.settle(&state(&[("a", "u-a"), ("b", "u-b")]));
        assert_eq!(track.orphans().count(), 0);
        assert_eq!(track.resources.len(), 2);
    }

    #[test]
    fn a_created_id_that_the_state_does_not_have_stays_beside_its_successor() {
        let mut track = Track::default();
        track.plan(&plan(&["a"]).makes());
        track.step(&step("a", "create", StepKind::Completed, Some("one")));
        track.settle(&state(&[("a", "two")]));
        let orphans: Vec<_> = track
            .orphans()
            .filter_map(|one| one.id.as_deref())
            .collect();
        assert_eq!(orphans, ["one"]);
    }

    #[test]
    fn what_a_destroy_ended_is_forgotten() {
        let mut track = Track::default();
        track.settle(&state(&[("a", "1"), ("b", "2")]));
        assert!(track.step(&step("a", "delete", StepKind::Completed, Some("1"))));
        assert!(!track.step(&step("b", "delete", StepKind::Failed, None)));
        assert_eq!(track.resources.len(), 1);
        track.settle(&TerraformState::default());
        assert!(track.resources.is_empty());
    }
}
