//! The rules of the substrate: its tags, its names, what a Terraform plan may do, and what a state, a
//! plan and the progress of an apply say about resources. Pure; nothing here runs Terraform.

mod check;
mod kinds;
mod names;
mod offence;
mod place;
mod plan;
mod program;
mod state;
mod tagged;
mod tags;
mod track;

pub use check::{Expected, check, untagged};
pub use kinds::never;
pub use names::{Whereabouts, bears, cut, import_id};
pub use offence::{Offence, Rule};
pub use plan::{Plan, Unreadable};
pub use state::{StateResource, TerraformState};
pub use tagged::{import_ids, is_found_by_tags};
pub use tags::{MANAGED, SessionTags, TAG_MANAGED, TAG_TTL};
pub use track::{Resource, ResourceStatus, Step, StepKind, Track};
