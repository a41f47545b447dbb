//! What cp9 itself writes about a substrate: what was initialised, planned and applied.

use std::collections::BTreeMap;

use camino::Utf8Path;
use cp9_model::substrate::{Expected, Offence, Resource, TerraformState};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::SubstrateError;
use crate::engine::Engine;
use crate::error::EngineError;

/// What the working copy was initialised for; also what a destroy needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InitRecord {
    /// The root module below the working copy.
    pub(super) root: String,
    /// The persona's var file.
    pub(super) var_file: Option<String>,
    /// `terraform` or `tofu`.
    pub(super) program: String,
    /// The digest of the files that it was initialised from.
    pub(super) digest: String,
}

/// A saved plan that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlanRecord {
    #[serde(rename = "apiVersion")]
    pub(super) api_version: String,
    /// What made it.
    pub(super) program: String,
    /// Its version.
    pub(super) version: String,
    /// The digest of the saved plan.
    pub(super) digest: String,
    /// The state that it was made from.
    pub(super) lineage: String,
    /// Its version.
    pub(super) serial: u64,
    /// Resources that it adds.
    pub(super) add: usize,
    /// Resources that it changes.
    pub(super) change: usize,
    /// Resources that it destroys.
    pub(super) destroy: usize,
    /// What it makes.
    pub(super) makes: Vec<Resource>,
    /// What it does and must not; one that has any is never applied.
    pub(super) offences: Vec<Offence>,
    /// Where it was to be applied.
    pub(super) account: String,
    /// The region.
    pub(super) region: String,
}

impl PlanRecord {
    pub(super) const VERSION: &'static str = "cp9.substrate-plan/v1";

    /// True if the state is still the one that the plan was made from.
    pub(super) fn fits(&self, state: &TerraformState) -> bool {
        self.serial == state.serial && self.lineage == state.lineage
    }

    /// True if it was made for this account and region.
    pub(super) fn is_for(&self, expected: &Expected) -> bool {
        self.account == expected.account && self.region == expected.region
    }
}

/// A plan that was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Applied {
    /// The digest of the saved plan.
    pub(super) digest: String,
    /// The state that came of it.
    pub(super) lineage: String,
    /// Its version.
    pub(super) serial: u64,
}

/// The outputs of a state as cp9 keeps them: values that are marked sensitive stay in the state.
pub(super) fn outputs(state: &TerraformState) -> BTreeMap<String, Value> {
    let mut outputs = state.outputs.clone();
    for output in outputs.values_mut() {
        let sensitive = output.get("sensitive") == Some(&Value::Bool(true));
        if let (true, Some(map)) = (sensitive, output.as_object_mut()) {
            map.remove("value");
        }
    }
    outputs
}

/// A record, if there is one that can be read.
pub(super) fn load<T: DeserializeOwned>(engine: &Engine, path: &Utf8Path) -> Option<T> {
    let bytes = engine.doors.read(path).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Writes a record.
pub(super) fn save<T: Serialize>(
    engine: &Engine,
    path: &Utf8Path,
    value: &T,
) -> Result<(), EngineError> {
    let bytes = crate::document::bytes(value);
    engine.doors.write_if_changed(path, &bytes, 0o600)?;
    Ok(())
}

/// The state of a substrate; none yet is an empty one.
pub(super) fn state(engine: &Engine, path: &Utf8Path) -> Result<TerraformState, EngineError> {
    if !engine.doors.exists(path) {
        return Ok(TerraformState::default());
    }
    let bytes = engine.doors.read(path)?;
    TerraformState::parse(&bytes).map_err(|source| {
        SubstrateError::Unreadable {
            path: path.to_owned(),
            source,
        }
        .into()
    })
}
